const BASE58 = '123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz'

/** Reproducible randomness: the same seed gives the same numbers on every machine. */
export class Rng {
  #state: number

  constructor(seed: number) {
    this.#state = seed >>> 0
  }

  /** A whole number from 0 to below `limit`; mulberry32. */
  below(limit: number): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), this.#state | 1)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)) ^ mixed
    return Math.floor((((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296) * limit)
  }

  /** A whole number from 1 to `limit`. */
  upTo(limit: number): number {
    return 1 + this.below(limit)
  }

  pick<T>(list: readonly [T, ...T[]]): T {
    return list[this.below(list.length)] ?? list[0]
  }

  bytes(count: number): Uint8Array {
    return Uint8Array.from({ length: count }, () => this.below(256))
  }

  /** Like `createPaymentId`, but of this sequence. */
  paymentId(): string {
    return `pay_${Array.from({ length: 22 }, () => BASE58.charAt(this.below(58))).join('')}`
  }

  /** A positive number of up to `bits` bits, of any size below that. */
  big(bits: number): bigint {
    const size = this.upTo(bits)
    let value = 1n
    for (let bit = 1; bit < size; bit++) value = (value << 1n) | BigInt(this.below(2))
    return value
  }
}

/** One change of raw bytes: a bit, a byte, a byte more or less, a cut, a tail, two bytes swapped. */
export function changeBytes(rng: Rng, bytes: Uint8Array): { how: string; bytes: Uint8Array } {
  const at = rng.below(bytes.length)
  const here = bytes[at] ?? 0
  switch (rng.below(12)) {
    case 0:
      return { how: 'a byte set', bytes: bytes.with(at, (here + rng.upTo(255)) & 0xff) }
    case 1:
      return {
        how: 'a byte inserted',
        bytes: Uint8Array.from([...bytes.subarray(0, at), rng.below(256), ...bytes.subarray(at)]),
      }
    case 2:
      return {
        how: 'a byte removed',
        bytes: Uint8Array.from([...bytes.subarray(0, at), ...bytes.subarray(at + 1)]),
      }
    case 3:
      return { how: 'cut off', bytes: bytes.slice(0, at) }
    case 4:
      return {
        how: 'bytes appended',
        bytes: Uint8Array.from([...bytes, ...rng.bytes(rng.upTo(8))]),
      }
    case 5: {
      const other = rng.below(bytes.length)
      return {
        how: 'two bytes swapped',
        bytes: bytes.with(at, bytes[other] ?? 0).with(other, here),
      }
    }
    default:
      return { how: 'a bit flipped', bytes: bytes.with(at, here ^ (1 << rng.below(8))) }
  }
}
