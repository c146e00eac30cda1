import { ComputeBudgetProgram, VersionedMessage } from '@solana/web3.js'

const DEFAULT_UNITS = 200_000
const BUILTIN_UNITS = 3_000
const MAX_UNITS = 1_400_000
const BUILTINS = new Set([
  ComputeBudgetProgram.programId.toBase58(),
  '11111111111111111111111111111111',
])

/** What a message adds to the base fee through its compute budget, in lamports: unit price times unit limit, rounded up. */
export function priorityFee(messageBase64: string): number {
  const message = VersionedMessage.deserialize(Buffer.from(messageBase64, 'base64'))
  let limit: number | undefined
  let microLamports = 0n
  let defaultLimit = 0
  for (const { programIdIndex, data } of message.compiledInstructions) {
    const program = message.staticAccountKeys[programIdIndex]?.toBase58() ?? ''
    defaultLimit += BUILTINS.has(program) ? BUILTIN_UNITS : DEFAULT_UNITS
    if (program !== ComputeBudgetProgram.programId.toBase58()) continue
    const bytes = Buffer.from(data)
    if (bytes[0] === 2 && bytes.length === 5) limit = bytes.readUInt32LE(1)
    if (bytes[0] === 3 && bytes.length === 9) microLamports = bytes.readBigUInt64LE(1)
  }
  const units = BigInt(Math.min(limit ?? defaultLimit, MAX_UNITS))
  return Number((units * microLamports + 999_999n) / 1_000_000n)
}
