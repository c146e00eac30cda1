import type { OpenDatabase, OpenOptions } from './open.ts';
export declare function openServer(url: string, options: OpenOptions): Promise<OpenDatabase>;
