CREATE TABLE observations (id INTEGER PRIMARY KEY, memory_session_id TEXT, project TEXT, text TEXT,
 type TEXT, title TEXT, subtitle TEXT, facts TEXT, narrative TEXT, concepts TEXT, files_read TEXT,
 files_modified TEXT, created_at TEXT, created_at_epoch INTEGER);
INSERT INTO observations VALUES (7, 's', 'app', NULL, 'bugfix', 'Port taken', 'The proxy has it',
 '["Proxy: 3001"]', 'Tests listen on 3002.', '["ports"]', '[]', '["dev.ts"]', '', 1767603600000);
CREATE TABLE session_summaries (id INTEGER PRIMARY KEY, memory_session_id TEXT, project TEXT,
 request TEXT, investigated TEXT, learned TEXT, completed TEXT, next_steps TEXT, notes TEXT,
 files_read TEXT, files_edited TEXT, created_at TEXT, created_at_epoch INTEGER);
INSERT INTO session_summaries VALUES (7, 's', 'app', 'Fix the port', NULL, 'The proxy holds 3001',
 NULL, 'Document it', NULL, '[]', '[]', '2026-01-05T09:00:00Z', 1767603600000);
