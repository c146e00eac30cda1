import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { ENGINES } from '#testing/postgres.ts'
import { refusal } from '#testing/proofs.ts'
import { openContext, type OpenedContext } from '#testing/service-context.ts'
import { takeClaim } from '../db/claims.ts'
import { Checklist } from './checklist.ts'
import { Deadline } from './deadline.ts'
import { hold, whileHeld } from './hold.ts'

/** Who may work on a proof: one attempt at a time, and another soon after it died. */

describe.each(ENGINES)('on %s', (engine) => {
  let opened: OpenedContext

  beforeAll(async () => {
    opened = await openContext([], { engine })
  })

  afterAll(() => opened?.[Symbol.asyncDispose]())

  const question = (key: string) => ({ network: 'eip155:31337' as const, key, accountId: opened.actor.accountId, fingerprint: 'f' })
  const ask = (key: string, ms: number) => hold(opened.context, { ...question(key), deadline: new Deadline(ms), checklist: new Checklist() })

  test('what a process that died has held is another’s within five seconds', async () => {
    // Taken, and never spoken of again.
    expect(await takeClaim(opened.context.db, question('txid:dead'))).toMatchObject({ taken: true })
    const startedAt = performance.now()
    expect(await ask('txid:dead', 30_000)).toMatchObject({ held: { key: 'txid:dead' } })
    expect(performance.now() - startedAt).toBeLessThan(5_000)
  })

  test('what lives keeps its hold longer than any lease, and gives it back at its end', async () => {
    const first = await ask('txid:slow', 1_000)
    if (!('held' in first)) throw new Error('used')
    let others: unknown
    await whileHeld(opened.context, first.held, async () => {
      others = await refusal(ask('txid:slow', 6_000))
    })
    expect(others).toEqual({ code: 'PAYMENT_VERIFICATION_FAILED' })
    expect(await ask('txid:slow', 1_000)).toMatchObject({ held: { key: 'txid:slow' } })
  })
})
