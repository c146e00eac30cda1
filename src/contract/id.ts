const BASE58 = '123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz'
const LENGTH = 22

/** `pay_…`, `acc_…`, `key_…`, `wal_…`: 22 base58 characters that spell 128 random bits. Unguessable and never sequential. */
export function createId<Prefix extends string>(prefix: Prefix): `${Prefix}_${string}` {
  let value = 0n
  for (const byte of crypto.getRandomValues(new Uint8Array(16)))
    value = (value << 8n) | BigInt(byte)
  let text = ''
  for (let index = 0; index < LENGTH; index++) {
    text = BASE58.charAt(Number(value % 58n)) + text
    value /= 58n
  }
  return `${prefix}_${text}`
}
