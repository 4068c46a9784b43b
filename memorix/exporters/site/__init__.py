"""Notes as pages to read in a browser, from a folder, without a server or the network."""
