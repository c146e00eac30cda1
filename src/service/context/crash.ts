import type { Context } from './context.ts'

/** The steps of a hosted send, and of a settlement, between which a process may die. */
export type CrashPoint =
  | `send:${'validated' | 'simulated' | 'reserved' | 'signed' | 'persisted' | 'broadcast' | 'told'}`
  | `settle:${'signed' | 'persisted' | 'broadcast'}`

/** Kills this process where the configuration says so, as a power cut would: tests of recovery need to hit every step. */
export function crashPoint({ config }: Context, point: CrashPoint): void {
  if (config.crashAt === point) process.kill(process.pid, 'SIGKILL')
}
