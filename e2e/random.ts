import { createHash } from 'node:crypto'
import { Keypair } from '@solana/web3.js'
import { toHex, type Hex } from 'viem'

/**
 * Every random value of a story comes from here. It depends on the seed of the run, the story and its position in the story alone: not on the
 * worker, and not on which stories ran before. The seed is printed at the start; `E2E_SEED=<seed>` replays a run.
 */
let seed = ''
let drawn = 0

/** Starts the sequence of a story. `storySeed`: the seed of the run, and a name of the story that is unique in the run. */
export function startRandom(storySeed: string): void {
  seed = storySeed
  drawn = 0
}

export function randomBytes(length: number): Uint8Array {
  const blocks = Array.from({ length: Math.ceil(length / 32) }, () => {
    drawn += 1
    return createHash('sha256').update(`${seed} ${drawn}`).digest()
  })
  return new Uint8Array(Buffer.concat(blocks).subarray(0, length))
}

/** For an account on an EVM chain. */
export function randomPrivateKey(): Hex {
  return toHex(randomBytes(32))
}

/** For an account on Solana. */
export function randomKeypair(): Keypair {
  return Keypair.fromSeed(randomBytes(32))
}

/** Version 4, as RFC 9562 has it. */
export function randomUuid(): `${string}-${string}-${string}-${string}-${string}` {
  const bytes = randomBytes(16)
  bytes[6] = ((bytes[6] ?? 0) & 0x0f) | 0x40
  bytes[8] = ((bytes[8] ?? 0) & 0x3f) | 0x80
  const hex = Buffer.from(bytes).toString('hex')
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`
}
