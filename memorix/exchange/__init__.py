"""Files outside the vault: `reading` takes bundles from them, `writing` makes exports of them."""
