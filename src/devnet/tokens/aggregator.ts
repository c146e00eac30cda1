import type { Hex } from 'viem'

/**
 * A price feed for local networks, with the interface of Chainlink's aggregators: `decimals()`, and
 * `latestRoundData()` for any other call. `updatedAt` undefined: as old as the newest block.
 */
export type Aggregator = { answer: bigint; decimals: number; round: bigint; updatedAt?: bigint }

const word = (value: bigint): string => BigInt.asUintN(256, value).toString(16).padStart(64, '0')
/** `PUSH32 value PUSH1 at MSTORE` */
const store = (value: bigint, at: number): string => `7f${word(value)}60${byte(at)}52`
const byte = (value: number): string => value.toString(16).padStart(2, '0')

/** The runtime code of a feed that gives this answer, to be put at an address. */
export function aggregatorCode({ answer, decimals, round, updatedAt }: Aggregator): Hex {
  // `TIMESTAMP PUSH1 at MSTORE` where no time is set.
  const time = (at: number) =>
    updatedAt === undefined ? `4260${byte(at)}52` : store(updatedAt, at)
  const roundData =
    store(round, 0) + store(answer, 32) + time(64) + time(96) + store(round, 128) + '60a06000f3'
  // `PUSH1 0 CALLDATALOAD PUSH1 224 SHR PUSH4 decimals() EQ PUSH2 … JUMPI` is 16 bytes long.
  const head = `60003560e01c63313ce5671461${(16 + roundData.length / 2).toString(16).padStart(4, '0')}57`
  return `0x${head}${roundData}5b${store(BigInt(decimals), 0)}60206000f3`
}
