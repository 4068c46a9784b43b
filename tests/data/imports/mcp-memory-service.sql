PRAGMA foreign_keys=OFF;
BEGIN TRANSACTION;
CREATE TABLE memories (
                        id INTEGER PRIMARY KEY AUTOINCREMENT,
                        content_hash TEXT UNIQUE NOT NULL,
                        content TEXT NOT NULL,
                        tags TEXT,
                        memory_type TEXT,
                        metadata TEXT,
                        created_at REAL,
                        updated_at REAL,
                        created_at_iso TEXT,
                        updated_at_iso TEXT,
                        deleted_at REAL DEFAULT NULL
                    , store TEXT DEFAULT 'default', parent_id TEXT, version INTEGER DEFAULT 1, confidence REAL DEFAULT 1.0, last_accessed INTEGER, superseded_by TEXT, embedding_pending INTEGER NOT NULL DEFAULT 0);
INSERT INTO memories VALUES(1,'71d2accf66b2ca16012f3b59a22d503761c468a2cee2424857021cb751f6165f','The staging database listens on port 5433','database,staging','note','{"source": "chat"}',1796253271.6380443572,1796253271.6380443572,'2026-12-02T23:14:31.638044Z','2026-12-02T23:14:31.638044Z',NULL,'default',NULL,1,1.0,NULL,NULL,0);
INSERT INTO memories VALUES(2,'cf13935617223711a188a685bb478f466bfa5c3e5de0d7b969f9f0aed1f9624a','We chose PostgreSQL over MySQL because of partial indexes','decision','decision','{}',1796253271.6551423072,1796253271.6551423072,'2026-12-02T23:14:31.655142Z','2026-12-02T23:14:31.655142Z',NULL,'default',NULL,1,1.0,NULL,NULL,0);
INSERT INTO memories VALUES(3,'e44af2c9ccae05946401264f7bd58b8aa2b2fe5bc353395f65f4504752ff34bf','每周五下午不发布','流程','observation','{}',1796253271.658517599,1796253271.658517599,'2026-12-02T23:14:31.658518Z','2026-12-02T23:14:31.658518Z',NULL,'default',NULL,1,1.0,NULL,NULL,0);
COMMIT;
