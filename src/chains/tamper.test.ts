import { expect, test } from 'vitest'
import { evmToken } from '#testing/tamper/evm-token.ts'
import { evm } from '#testing/tamper/evm.ts'
import { solanaToken } from '#testing/tamper/solana-token.ts'
import { solana } from '#testing/tamper/solana.ts'
import { tamper } from '#testing/tamper/tamper.ts'

test.each(Object.entries({ evm, solana, 'evm token': evmToken, 'solana token': solanaToken }))(
  'of 10,000 tampered transactions on %s every one is blocked, or makes the same payment by the verdict of the chain’s own library',
  async (_, chain) => {
    const { blocked, equal, leaked, ways } = await tamper(chain, 10_000, 0x9a1d)
    expect(leaked.map(({ how, door, bytes }) => `${how} at ${door}: ${Buffer.from(bytes).toString('hex')}`)).toEqual([])
    expect(blocked + equal).toBe(10_000)
    // Both verdicts must occur: a suite that blocks everything, or nothing, proves nothing.
    expect(blocked).toBeGreaterThan(5000)
    expect(equal).toBeGreaterThan(500)
    expect(ways.size).toBeGreaterThan(30)
  },
  120_000,
)
