PRAGMA foreign_keys=OFF;
BEGIN TRANSACTION;
CREATE TABLE observations (
  id              INTEGER PRIMARY KEY,
  entityName      TEXT NOT NULL,
  type            TEXT NOT NULL,
  title           TEXT NOT NULL,
  narrative       TEXT NOT NULL DEFAULT '',
  facts           TEXT NOT NULL DEFAULT '[]',
  filesModified   TEXT NOT NULL DEFAULT '[]',
  concepts        TEXT NOT NULL DEFAULT '[]',
  tokens          INTEGER NOT NULL DEFAULT 0,
  createdAt       TEXT NOT NULL,
  updatedAt       TEXT,
  projectId       TEXT NOT NULL,
  hasCausalLanguage INTEGER DEFAULT 0,
  topicKey        TEXT,
  revisionCount   INTEGER DEFAULT 1,
  sessionId       TEXT,
  status          TEXT NOT NULL DEFAULT 'active',
  progress        TEXT,
  source          TEXT DEFAULT 'agent',
  commitHash      TEXT,
  relatedCommits  TEXT,
  relatedEntities TEXT,
  sourceDetail    TEXT,
  valueCategory   TEXT
, createdByAgentId TEXT, writeGeneration INTEGER DEFAULT 0);
INSERT INTO observations VALUES(1,'auth-module','decision','Tokens are rotated every 15 minutes','Short tokens limit what a leak can do.','["Access token lifetime: 15 min","Refresh token lifetime: 30 days"]','["src/auth/token.ts"]','["auth","jwt"]',36,'2026-12-02T23:14:16.312Z',NULL,'local/proj',0,NULL,1,NULL,'active',NULL,'agent',NULL,NULL,NULL,'explicit','contextual',NULL,1);
COMMIT;
