import { fileURLToPath } from 'node:url'

/** What a program that opens the proxy's database hands to `openDatabase`. */
export const BFF_SCHEMA = {
  migrations: fileURLToPath(new URL('migrations', import.meta.url)),
  schema: 'bff',
}
