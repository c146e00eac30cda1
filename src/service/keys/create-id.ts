const BASE58 = '123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz'

/** `acc_…`, `key_…` or `wal_…`: 22 base58 characters that spell 128 random bits. */
export function createId(prefix: 'acc' | 'key' | 'wal'): string {
  let value = 0n
  for (const byte of crypto.getRandomValues(new Uint8Array(16))) value = (value << 8n) | BigInt(byte)
  let text = ''
  for (let index = 0; index < 22; index++) {
    text = BASE58.charAt(Number(value % 58n)) + text
    value /= 58n
  }
  return `${prefix}_${text}`
}
