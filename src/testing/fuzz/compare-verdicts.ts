import type { PaymentPayload, PaymentRequirements } from '@x402/core/types'
import { ExactEvmScheme } from '@x402/evm/exact/facilitator'
import { sql } from 'drizzle-orm'
import { verifyTypedData, type Hex } from 'viem'
import * as v from 'valibot'
import { canonicalSignature } from '#chains/evm/authorization.ts'
import { NATIVE_ETH, type Network } from '#contract/network.ts'
import type { Contracts } from '#service/chains/contracts.ts'
import type { Context } from '#service/context/context.ts'
import { verifyPayment } from '#service/settlement/facilitator.ts'
import { Eip3009Payload } from '#x402/authorization.ts'
import { openContext } from '../service-context.ts'
import { Rng } from '../tamper/rng.ts'
import { ModelToken, TOKEN } from './model-token.ts'
import { makeCase, NETWORK, type VerifyCase } from './verify-cases.ts'

const BASE: Network = {
  network: NETWORK,
  name: 'Model',
  rpcUrls: ['http://127.0.0.1:1'],
  testnet: true,
  blockTimeMs: 2_000,
  confirmations: 1,
  assets: [
    NATIVE_ETH,
    { address: TOKEN, symbol: 'USDC', name: 'USD Coin', decimals: 6, native: false },
  ],
}
const FACILITATOR = `0x${'11'.repeat(20)}`
/** The rows of payers of cases that are over. */
const CLEAR_EVERY = 1_000

export type ComparedVerdicts = {
  cases: number
  valid: number
  /** Accepted here and refused by the official package, or by the steps: the bar is none. */
  looser: string[]
  /** Accepted by the steps and refused at once. */
  unequal: string[]
  /** Refused here alone, by reason. */
  stricter: Map<string, number>
}

type Options = { count: number; seed: number; believes?: boolean }

/**
 * Has payments verified three times: at once, step by step, and by the official package, all on one
 * chain in memory.
 */
export async function compareVerdicts({
  count,
  seed,
  believes = false,
}: Options): Promise<ComparedVerdicts> {
  await using opened = await openContext([BASE], { engine: 'pglite' })
  const token = new ModelToken()
  const rng = new Rng(seed)
  const atOnce = withContracts(opened.context, token.contracts({ atOnce: true, believes }))
  const inSteps = withContracts(opened.context, token.contracts({ atOnce: false }))
  const found: ComparedVerdicts = {
    cases: count,
    valid: 0,
    looser: [],
    unequal: [],
    stricter: new Map(),
  }
  for (let index = 0; index < count; index++) {
    const made = await makeCase(rng, token)
    const [ours, steps, official] = [
      await verdictOf(atOnce, opened, made),
      await verdictOf(inSteps, opened, made),
      await officialVerdict(token, made.input),
    ]
    const told = `${made.how}: at once ${ours}, in steps ${steps}, official ${official}`
    if (ours === VALID) found.valid++
    if (ours === VALID && (steps !== VALID || !(await isOfficiallyValid(token, made, official))))
      found.looser.push(told)
    else if (ours !== steps) found.unequal.push(told)
    else if (ours !== VALID && official === VALID)
      found.stricter.set(
        `${made.how}: ${ours}`,
        (found.stricter.get(`${made.how}: ${ours}`) ?? 0) + 1,
      )
    if (index % CLEAR_EVERY === 0) {
      await opened.context.db.execute(sql`delete from service.reservation`)
      token.used.clear()
    }
  }
  return found
}

const VALID = 'valid'

function withContracts(context: Context, contracts: Contracts): Context {
  const chain = context.chains.get(NETWORK)
  if (!chain) throw new Error('no chain')
  const now = async () => ({ head: new Date(), finalized: new Date(Date.now() - 60_000) })
  return {
    ...context,
    config: {
      ...context.config,
      facilitators: { allowed: [], loopback: false, wallets: [FACILITATOR] },
    },
    chains: new Map([[NETWORK, { ...chain, clock: now, contracts }]]),
  }
}

async function verdictOf(
  context: Context,
  { actor }: { actor: Parameters<typeof verifyPayment>[1] },
  { input }: VerifyCase,
): Promise<string> {
  const { isValid, invalidReason } = await verifyPayment(context, actor, input)
  return isValid ? VALID : (invalidReason ?? 'invalid')
}

/** The service broadcasts what it read, in one spelling, whatever case or recovery id the payer used; the package broadcasts the payer's. */
async function isOfficiallyValid(
  token: ModelToken,
  { input }: VerifyCase,
  verdict: string,
): Promise<boolean> {
  return verdict === VALID || (await officialVerdict(token, respelled(input))) === VALID
}

function respelled(input: VerifyCase['input']): VerifyCase['input'] {
  const { paymentPayload, ...rest } = input
  const { signature, authorization } = v.parse(Eip3009Payload, paymentPayload.payload)
  const numbers = (['value', 'validAfter', 'validBefore'] as const).map((field) => [
    field,
    authorization[field].toString(),
  ])
  const payload = {
    signature: canonicalSignature(signature),
    authorization: { ...authorization, ...Object.fromEntries(numbers) },
  }
  return { ...rest, paymentPayload: { ...paymentPayload, payload } }
}

/** As its facilitator gets it: what it throws is a refusal. */
async function officialVerdict(
  token: ModelToken,
  { paymentPayload, paymentRequirements }: VerifyCase['input'],
): Promise<string> {
  const never = () => Promise.reject(new Error('Nothing is sent.'))
  const scheme = new ExactEvmScheme(
    {
      getAddresses: () => [FACILITATOR as Hex],
      readContract: (call) => token.read(call),
      getCode: async ({ address }) => (address === TOKEN ? '0x60' : '0x'),
      verifyTypedData: (typed) => verifyTypedData(typed as Parameters<typeof verifyTypedData>[0]),
      writeContract: never,
      sendTransaction: never,
      waitForTransactionReceipt: never,
    },
    { eip6492AllowedFactories: [] },
  )
  try {
    const { isValid, invalidReason } = await scheme.verify(
      paymentPayload as unknown as PaymentPayload,
      paymentRequirements as unknown as PaymentRequirements,
    )
    return isValid ? VALID : (invalidReason ?? 'invalid')
  } catch (error) {
    return error instanceof Error ? error.name : 'thrown'
  }
}
