import type { OpenDatabase, OpenOptions } from './open.ts';
/** The embedded Postgres, in this process. It survives a killed process, not a power cut: it never calls fsync. */
export declare function openFolder(target: {
    dataDir: string;
    template?: Blob;
}, options: OpenOptions): Promise<OpenDatabase>;
