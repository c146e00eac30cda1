import { expect, test } from 'vitest'
import { evmToken } from '#testing/tamper/evm-token.ts'
import { evm } from '#testing/tamper/evm.ts'
import { solanaToken } from '#testing/tamper/solana-token.ts'
import { solana } from '#testing/tamper/solana.ts'
import { tamper } from '#testing/tamper/tamper.ts'

/** `npm run fuzz:tamper` tries a hundred thousand of each. */
const SIZE = 1_000

test.each(Object.entries({ evm, solana, 'evm token': evmToken, 'solana token': solanaToken }))(
  'of 1,000 tampered transactions on %s every one is blocked, or makes the same payment by the verdict of the chain’s own library',
  async (_, chain) => {
    const { blocked, equal, leaked, ways } = await tamper(chain, SIZE, 0x9a1d)
    expect(
      leaked.map(
        ({ how, door, bytes }) => `${how} at ${door}: ${Buffer.from(bytes).toString('hex')}`,
      ),
    ).toEqual([])
    expect(blocked + equal).toBe(SIZE)
    // Both verdicts must occur: a suite that blocks everything, or nothing, proves nothing.
    expect(blocked).toBeGreaterThan(SIZE / 2)
    expect(equal).toBeGreaterThan(SIZE / 20)
    expect(ways.size).toBeGreaterThan(30)
  },
  120_000,
)
