import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Contracts } from '../chains/contracts.ts'
import { unavailable } from '../chains/endpoints.ts'
import { startEvm, type EvmFixture } from '#testing/local-chains.ts'
import { openTokenFixture, type TokenFixture } from '#testing/token-fixture.ts'
import { payInvoice } from '#testing/token-payers.ts'
import { settleOfficially, verifyOfficially, type Official } from './official.ts'

/** The official package, where the chain cannot be read in the middle of its work. */

let evm: EvmFixture
let fixture: TokenFixture

beforeAll(async () => {
  evm = await startEvm({ slotsInEpoch: 2 })
  fixture = await openTokenFixture(evm)
})

afterAll(async () => {
  await fixture?.[Symbol.asyncDispose]()
  await evm?.[Symbol.asyncDispose]()
})

const away = () => Promise.reject(unavailable('The chain cannot be reached.'))

async function signed(changes: Partial<Contracts>): Promise<Official> {
  const all = await fixture.parties()
  const header = await payInvoice(all.client, all.requirements)
  const [network] = fixture.context.config.networks
  if (!network || !fixture.chain.contracts) throw new Error('no contracts')
  const open = {
    resource: null,
    resourceInfo: null,
    memo: null,
    method: null,
    notBefore: null,
    expiresAt: null,
  }
  return {
    contracts: { ...fixture.chain.contracts, ...changes },
    terms: {
      network,
      asset: all.asset,
      payTo: all.payee.address,
      amountAtomic: all.amount,
      feePayers: [],
      ...open,
    },
    authorization: await fixture.authorizationOf(all, header),
    address: fixture.facilitator.address,
  }
}

// Vitest fails where a rejection is left unhandled: in production that ends the process.
test.each<[string, Partial<Contracts>]>([
  ['the code of the token', { code: away }],
  ['anything', { code: away, read: away }],
])('a chain that does not tell %s refuses nothing, and ends no process', async (_, changes) => {
  const official = await signed(changes)
  const unreached = { code: 'CHAIN_UNAVAILABLE' }
  await expect(verifyOfficially(official)).rejects.toMatchObject(unreached)
  const submitted = () => Promise.reject(new Error('It was submitted.'))
  await expect(settleOfficially(official, submitted)).rejects.toMatchObject(unreached)
})
