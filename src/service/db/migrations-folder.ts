import { fileURLToPath } from 'node:url'

/** What a program that opens the service's database hands to `openDatabase`. */
export const SERVICE_SCHEMA = {
  migrations: fileURLToPath(new URL('migrations', import.meta.url)),
  schema: 'service',
}
