import type { Client } from 'pg';
type Heard = (payload: string) => void;
export type Listener = {
    listen(channel: string, on: Heard): Promise<() => Promise<void>>;
    close(): Promise<void>;
};
/**
 * LISTEN on a connection of its own, opened with the first listener. When the connection breaks it is opened again, and every listener is
 * called with an empty payload, because notifications sent meanwhile are gone.
 */
export declare function openListener(createClient: () => Client, onWarning: (error: Error) => void): Listener;
export {};
