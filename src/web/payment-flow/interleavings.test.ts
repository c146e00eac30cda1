import 'fake-indexeddb/auto'
import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { canRebuild, isTerminal } from './machine.ts'
import type { PaymentRun } from './run.ts'
import { TestDependencies } from './testing/test-dependencies.ts'
import { TabBrowser } from './testing/tab.ts'

const MOVES = [
  'build',
  'sign',
  'approve',
  'reject',
  'lose',
  'land',
  'reorganize',
  'spendNonce',
  'chooseNonce',
  'rpcDown',
  'rpcUp',
  'rpcLies',
  'pass',
  'passLong',
  'rebuild',
  'repeatRequest',
  'cancel',
  'closeTab',
  'openTab',
  'secondTab',
] as const
type Move = (typeof MOVES)[number]

/** Any move, but more often the ones that bring a payment near to being made twice. */
const DARING = [
  'sign',
  'approve',
  'rebuild',
  'repeatRequest',
  'passLong',
  'pass',
  'land',
  'spendNonce',
  'reorganize',
] as const
const move: fc.Arbitrary<Move> = fc.oneof(
  { weight: 1, arbitrary: fc.constantFrom(...MOVES) },
  { weight: 2, arbitrary: fc.constantFrom(...DARING) },
)

const turn = () => new Promise<void>((resolve) => setImmediate(resolve))

class Story {
  readonly outside: TestDependencies
  readonly browser: TabBrowser
  readonly tabs: PaymentRun[]

  constructor(family: 'evm' | 'solana') {
    this.outside = new TestDependencies(family)
    this.browser = new TabBrowser(this.outside, turn)
    this.tabs = [this.browser.begin()]
  }

  async play(move: Move): Promise<void> {
    const { outside, browser } = this
    const tab = this.tabs.at(-1)
    switch (move) {
      case 'build':
      case 'rebuild':
      case 'repeatRequest':
        void tab?.[move]()
        break
      case 'sign':
        void tab?.sign(['OPEN_TWIN', 'CHAIN_UNREAD'])
        break
      case 'cancel':
        void tab?.cancel()
        break
      case 'closeTab':
        this.tabs.pop()?.close()
        break
      case 'openTab':
        this.tabs.pop()?.close()
        await browser.still()
        await this.open()
        break
      case 'secondTab':
        await this.open()
        break
      case 'rpcDown':
        outside.rpcUp = false
        break
      case 'rpcUp':
        outside.rpcUp = true
        outside.rpcLies = false
        break
      case 'rpcLies':
        outside.rpcLies = true
        break
      case 'pass':
        await browser.pass(5)
        break
      case 'passLong':
        await browser.pass(60)
        break
      default:
        outside[move]()
    }
    await browser.still()
  }

  async open(): Promise<void> {
    const resumed = await this.browser.resume()
    if (resumed) this.tabs.push(resumed)
  }

  /** All comes back to order: the network is there, the wallet is answered, blocks pass. */
  async settle(): Promise<void> {
    await this.play('rpcUp')
    for (const _ of this.outside.requests) this.outside.reject()
    while (this.tabs.length > 1) await this.play('closeTab')
    await this.play('openTab')
    this.outside.land()
    await this.browser.pass(300)
  }

  close(): void {
    for (const tab of this.tabs) tab.close()
  }
}

for (const family of ['solana', 'evm'] as const) {
  test(`whatever happens in whatever order, one ${family} order lands at most once and is never told wrongly`, async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom<readonly Move[]>(['build'], ['chooseNonce', 'build']),
        fc.array(move, { minLength: 8, maxLength: 24, size: 'max' }),
        async (begin, moves) => {
          const story = new Story(family)
          try {
            for (const move of [...begin, 'sign', 'approve', ...moves] as const) {
              await story.play(move)
              expect(story.outside.landed.length, 'landed transfers').toBeLessThanOrEqual(1)
              const state = story.tabs.at(-1)?.state()
              const final = story.outside.landed.some(
                (one) => (one.landedAt ?? Infinity) <= story.outside.finalizedHeight,
              )
              if (final && state)
                expect(
                  canRebuild(state) && state.step === 'failed',
                  'a final payment was told as failed',
                ).toBe(false)
            }
            await story.settle()
            expect(story.outside.landed.length).toBeLessThanOrEqual(1)
            const state = story.tabs.at(-1)?.state()
            if (story.outside.landed.length === 1) expect(state?.step).toBe('finalized')
            if (state?.step === 'finalized') expect(story.outside.landed).toHaveLength(1)
            if (state && isTerminal(state))
              expect(story.outside.landed.length).toBe(state.step === 'finalized' ? 1 : 0)
          } finally {
            story.close()
            await story.browser.still()
          }
        },
      ),
      { numRuns: 150, seed: 20_261_121 },
    )
  }, 120_000)
}
