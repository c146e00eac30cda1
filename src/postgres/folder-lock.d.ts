export declare class FolderLockedError extends Error {
    name: string;
}
/**
 * Takes a folder for this process alone. The embedded Postgres has no lock of its own: two openers of one folder lose committed rows.
 *
 * The lock is SQLite's exclusive file lock, because Node has no other one: the operating system holds it, it works on Linux, macOS and
 * Windows, and `kill -9` releases it. A pid file could not tell a dead holder from a living one.
 * @returns releases the lock
 */
export declare function lockFolder(folder: string): () => void;
