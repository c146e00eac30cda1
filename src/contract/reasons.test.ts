import * as v from 'valibot'
import { expect, test } from 'vitest'
import {
  assetSamples,
  balanceSamples,
  decodeSamples,
  recipientSamples,
  senderSamples,
  simulationSamples,
} from '#testing/sample-reasons.ts'
import { parseJson, stringifyJson } from './json.ts'
import { errorBody } from './problem.ts'
import { assetProblem, balanceProblem, recipientProblem, senderProblem } from './reason-problems.ts'
import { SimulationReason, toSimulationReason } from './facts.ts'
import {
  AssetReason,
  BalanceReason,
  DecodeProblem,
  RecipientReason,
  SenderReason,
} from './reasons.ts'

/** The reason as a caller reads it from the body of an answer. */
function overTheWire(problem: ReturnType<typeof balanceProblem>): unknown {
  const body = v.parse(
    v.object({ error: v.object({ details: v.object({ reason: v.unknown() }) }) }),
    parseJson(stringifyJson(errorBody(problem, 'req_1', 1))),
  )
  return body.error.details.reason
}

test.each(Object.values(recipientSamples))(
  '$code comes out of the answer as it went in',
  (reason) => {
    expect(
      v.parse(RecipientReason, overTheWire(recipientProblem(reason, { received: 'x' }))),
    ).toEqual(reason)
  },
)

test.each(Object.values(balanceSamples))(
  '$code comes out of the answer as it went in',
  (reason) => {
    expect(v.parse(BalanceReason, overTheWire(balanceProblem(reason)))).toEqual(reason)
  },
)

test.each(Object.values(senderSamples))('$code comes out of the answer as it went in', (reason) => {
  expect(v.parse(SenderReason, overTheWire(senderProblem(reason)))).toEqual(reason)
})

test.each(Object.values(assetSamples))('$code comes out of the answer as it went in', (reason) => {
  expect(v.parse(AssetReason, overTheWire(assetProblem(reason)))).toEqual(reason)
})

test.each(Object.values(decodeSamples))('$code comes out of JSON as it went in', (problem) => {
  expect(v.parse(DecodeProblem, parseJson(stringifyJson(problem)))).toEqual(problem)
})

test.each(Object.values(simulationSamples))('$code comes out of JSON as it went in', (reason) => {
  expect(v.parse(SimulationReason, parseJson(stringifyJson(reason)))).toEqual(reason)
})

test('a simulation gives the reason of a refused payment with its parameters, amounts as text', () => {
  expect(toSimulationReason(recipientSamples.contract_reverts)).toEqual(
    simulationSamples.contract_reverts,
  )
  expect(toSimulationReason(assetSamples.asset_keeps_part)).toMatchObject({
    code: 'asset_keeps_part',
    params: { sent: { amountAtomic: '1500000' }, arrives: { amountAtomic: '1485000' } },
  })
  expect(toSimulationReason(balanceSamples.token_amount).code).toBe('payer_balance_too_low')
  expect(toSimulationReason(recipientSamples.token_mint).code).toBe('refused')
})

test('amounts are decimal text on the wire, and a code that nobody knows is refused', () => {
  expect(
    overTheWire(recipientProblem(recipientSamples.below_rent_minimum, { received: 'x' })),
  ).toEqual({
    code: 'below_rent_minimum',
    params: {
      minimum: {
        amountAtomic: '890880',
        asset: '11111111111111111111111111111111',
        symbol: 'SOL',
        decimals: 9,
      },
    },
  })
  for (const reason of [
    { code: 'constructor', params: {} },
    { code: 'below_rent_minimum', params: {} },
    'zero_address',
    undefined,
  ])
    expect(v.is(RecipientReason, reason)).toBe(false)
})
