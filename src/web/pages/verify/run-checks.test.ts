import { describe, expect, test } from 'vitest'
import { fact } from '#contract/facts.ts'
import type { ChainView } from './chain-checks.ts'
import { verdictOf, type Check } from '../../payment-view/check.ts'
import { joined, weigh } from './run-checks.ts'
import type { ServiceView } from './proof/service-checks.ts'

/** The page's own node, the service's node, and the service's record report different moments. */

const check = (
  name: string,
  state: Check['state'] = 'ok',
  source: Check['source'] = 'chain',
): Check => ({
  name,
  source,
  state,
  expected: fact('none'),
  got: fact('none'),
})
const ofService = (name: string, state: Check['state'] = 'bad') => check(name, state, 'record')
const nowhere: ChainView = {
  checks: [],
  settled: false,
  absent: true,
  transaction: null,
  undecided: null,
}
const paid: ChainView = {
  ...nowhere,
  checks: [check('transfer'), check('confirmations')],
  settled: true,
  absent: false,
}
const shallow: ChainView = {
  ...nowhere,
  checks: [check('transaction'), check('confirmations', 'open')],
  absent: false,
}
const spent: ChainView = {
  ...nowhere,
  checks: [check('fresh', 'open')],
  absent: false,
  undecided: 'long ago',
}
const silent: ChainView = { ...nowhere, absent: false, undecided: 'no answer' }
const service = (part: Partial<ServiceView> = {}): ServiceView => ({
  checks: [],
  vouched: false,
  settled: false,
  paymentId: null,
  already: false,
  undecided: null,
  signIn: false,
  ...part,
})

function told({ chain, local = [], of }: { chain: ChainView; local?: Check[]; of?: ServiceView }) {
  const { checks, used } = joined({ local, chain, service: of?.checks ?? [] })
  const weighed = weigh({ chain, service: of, own: false })
  return { verdict: verdictOf({ checks, ...weighed }), used, undecided: weighed.undecided }
}

describe('an executed proof', () => {
  test.each([
    [
      'on the service’s record',
      { local: [], of: service({ checks: [ofService('single_use')] }) },
      true,
    ],
    [
      'on the chain, before the service wrote it down',
      { local: [], of: service({ checks: [ofService('single_use', 'ok'), ofService('fresh')] }) },
      false,
    ],
    [
      'before the service’s node saw it, which tries it out in vain',
      { local: [], of: service({ checks: [ofService('simulation')] }) },
      false,
    ],
    [
      'before the service’s node saw it, and the payer has nothing left',
      { local: [], of: service({ checks: [ofService('balance')] }) },
      false,
    ],
    [
      'out of the time it was good for',
      { local: [check('window', 'bad', 'local')], of: undefined },
      false,
    ],
  ])(
    '%s: a proof that is paid on the chain is settled, though it can no longer be executed',
    (_, seen, used) => {
      expect(
        told({ chain: paid, ...(seen.of && { of: seen.of }), local: seen.local }),
      ).toMatchObject({ verdict: 'settled', used })
      // A reader who checks while the block is still shallow is told to wait, not that it is bad.
      const early = told({ chain: shallow, ...(seen.of && { of: seen.of }), local: seen.local })
      expect(early).toMatchObject({ verdict: 'unknown', used })
      expect(early.undecided).toContain('More confirmations needed')
      expect(
        told({ chain: nowhere, ...(seen.of && { of: seen.of }), local: seen.local }).verdict,
      ).toBe('invalid')
    },
  )

  test.each(['amount', 'window', 'payer'])(
    'anything else the service objects to still decides: %s',
    (name) => {
      expect(told({ chain: paid, of: service({ checks: [ofService(name)] }) }).verdict).toBe(
        'invalid',
      )
    },
  )

  test('a proof whose transaction failed on the chain was not executed', () => {
    const failed = {
      ...nowhere,
      checks: [check('transaction', 'bad'), check('confirmations')],
      absent: false,
    }
    expect(
      told({ chain: failed, of: service({ checks: [ofService('simulation')] }) }).verdict,
    ).toBe('invalid')
  })

  test('longer ago than the node was asked about: nobody calls it late', () => {
    expect(told({ chain: spent, local: [check('window', 'bad', 'local')] })).toMatchObject({
      verdict: 'unknown',
      undecided: 'long ago',
    })
  })
})

describe('what the service sees on the chain', () => {
  const seen = service({
    vouched: true,
    checks: [
      check('transaction', 'ok', 'service_chain'),
      check('confirmations', 'ok', 'service_chain'),
    ],
  })

  test('and the reader’s node does not yet, is not called unpaid', () => {
    expect(told({ chain: nowhere, of: seen }).verdict).toBe('unknown')
    expect(told({ chain: nowhere, of: seen }).undecided).toContain('Your RPC endpoint lags behind')
  })

  test('stands alone where the reader’s node does not answer, and that is said', () => {
    expect(told({ chain: silent, of: seen })).toEqual({
      verdict: 'settled',
      used: false,
      undecided: 'no answer',
    })
  })

  test('what it only tried out is valid, and not paid', () => {
    expect(
      told({ chain: nowhere, of: service({ vouched: true, checks: [check('simulation')] }) })
        .verdict,
    ).toBe('valid')
  })
})
