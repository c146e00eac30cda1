import {
  decodeFunctionResult,
  encodeFunctionData,
  erc20Abi,
  parseAbi,
  type Abi,
  type Hex,
  type PublicClient,
} from 'viem'
import { fact } from '#contract/facts.ts'
import type { Network } from '#contract/network.ts'
import type { Contracts, ContractHolding, Quote, TokenMovement } from '../contracts.ts'
import { remember } from '../recent.ts'
import { acceptsSignature } from './accepts-signature.ts'
import { findUse, proveEnding } from './authorization-use.ts'
import { buildCall } from './build-call.ts'
import type { EvmEndpoints, EvmRpcClient } from './client.ts'
import { priceCall } from './data-fee.ts'
import { Executions, padGas } from './execution.ts'
import { isShort, refusal } from './simulate.ts'

/** A transfer of one token that needs more is not meant to be executed for others. */
const MAX_GAS = 500_000n
const DOMAIN_TTL_MS = 60_000

const domainAbi = parseAbi([
  'function name() view returns (string)',
  'function version() view returns (string)',
  'function eip712Domain() view returns (bytes1 fields, string name, string version, uint256 chainId, address verifyingContract, bytes32 salt, uint256[] extensions)',
])

export function openContracts(
  endpoints: EvmEndpoints,
  network: Network,
  newest: () => Promise<{ height: number }>,
): Contracts {
  const executions = new Executions(endpoints, network, newest)
  return {
    domain: remember(DOMAIN_TTL_MS, (token) =>
      endpoints.request((client) => readDomain(client, token as Hex)),
    ),
    async read({ address, abi, functionName, args }) {
      const call = { abi: abi as Abi, functionName, args }
      const data = encodeFunctionData(call)
      const answer = await endpoints.request(async (client) => {
        try {
          return await client.call({ to: address, data })
        } catch (error) {
          if (refusal(error) === undefined) throw error
          return { error }
        }
      })
      if ('error' in answer) throw answer.error
      // Outside `request`: a contract that returns something else is no reason to ask another node.
      return decodeFunctionResult({ ...call, data: answer.data ?? '0x' })
    },
    holding: (query) => endpoints.request((client) => readHolding(client, query)),
    code: (address) => endpoints.request((client) => client.getCode({ address: address as Hex })),
    accepts: (question) => endpoints.request((client) => acceptsSignature(client, question)),
    async quote({ from, to, data }) {
      // One endpoint that would execute it is enough: the second is asked about a refusal.
      const answers = await endpoints.requestTwo(
        (client) => quoteOnce(client, network, { from: from as Hex, to, data }),
        ({ ok }) => ok,
      )
      const quote =
        answers.find(({ ok }) => ok) ??
        answers.find((answer) => !answer.ok && !answer.certain) ??
        answers[0]
      if (quote.ok) executions.remember({ from, to, data }, quote)
      return quote
    },
    executes: (call, holding) => executions.try(call, holding),
    couldMove: (movement) => endpoints.prove((client) => couldMove(client, movement)),
    price: (call) => endpoints.request((client) => priceCall(client, network, call)),
    build: (call) => buildCall(endpoints, network, call),
    findUse: (authorization, since = null) =>
      endpoints.request((client) => findUse(client, network, { authorization, since })),
    proveEnding: (authorization, since) => proveEnding(endpoints, { authorization, since }),
  }
}

/**
 * `name` and `version` where the token has them (EIP-3009 as Circle wrote it), otherwise by
 * ERC-5267.
 */
async function readDomain(
  client: PublicClient,
  address: Hex,
): Promise<{ name: string; version: string } | null> {
  const [name, version] = await Promise.all([
    orNull(client.readContract({ address, abi: domainAbi, functionName: 'name' })),
    orNull(client.readContract({ address, abi: domainAbi, functionName: 'version' })),
  ])
  if (name !== null && version !== null) return { name, version }
  const domain = await orNull(
    client.readContract({ address, abi: domainAbi, functionName: 'eip712Domain' }),
  )
  return domain && { name: domain[1], version: domain[2] }
}

async function readHolding(
  client: PublicClient,
  { token, owner, spender }: Parameters<Contracts['holding']>[0],
): Promise<ContractHolding | null> {
  const blockNumber = await client.getBlockNumber({ cacheTime: 0 })
  const call = { address: token, abi: erc20Abi, blockNumber } as const
  const [balanceAtomic, allowanceAtomic] = await Promise.all([
    orNull(client.readContract({ ...call, functionName: 'balanceOf', args: [owner] })),
    spender &&
      orNull(client.readContract({ ...call, functionName: 'allowance', args: [owner, spender] })),
  ])
  return balanceAtomic === null
    ? null
    : { height: Number(blockNumber), balanceAtomic, allowanceAtomic }
}

async function couldMove(
  client: PublicClient,
  { token, owner, recipient, amountAtomic, spender, height }: TokenMovement,
): Promise<boolean> {
  const data = encodeFunctionData({
    abi: erc20Abi,
    functionName: 'transfer',
    args: [recipient, amountAtomic],
  })
  const blockNumber = BigInt(height)
  const refused = await refusalOf(client.call({ account: owner, to: token, data, blockNumber }))
  if (refused !== undefined) return false
  if (spender === null) return true
  const call = { address: token, abi: erc20Abi, blockNumber } as const
  const allowed = await orNull(
    client.readContract({ ...call, functionName: 'allowance', args: [owner, spender] }),
  )
  return allowed !== null && allowed >= amountAtomic
}

/** A contract that refuses, or has no such function, says nothing. */
async function orNull<T>(answer: Promise<T>): Promise<T | null> {
  try {
    return await answer
  } catch (error) {
    if (refusal(error) === undefined && !isEmptyAnswer(error)) throw error
    return null
  }
}

/** viem's error when a contract has no such function, or there is no contract. */
function isEmptyAnswer(error: unknown): boolean {
  return error instanceof Error && /returned no data/.test(error.message)
}

/**
 * A payer's contract can read the fees, the gas limit and the sender of the transaction that calls
 * it, so they are those of the broadcast.
 */
async function quoteOnce(
  client: EvmRpcClient,
  network: Network,
  { from, to, data }: { from: Hex; to: Hex; data: Hex },
): Promise<Quote> {
  try {
    const call = { account: from, to, data }
    const estimate = await client.estimateGas({ ...call, blockTag: 'latest' })
    const gas = padGas(estimate)
    if (gas > MAX_GAS)
      return {
        ok: false,
        certain: true,
        reason: { code: 'token_gas_too_high', params: { maxGas: Number(MAX_GAS) } },
      }
    const { dataFeeAtomic, ...price } = await priceCall(client, network, { to, data, gas })
    const broadcast = { ...call, gas, ...price }
    const together = client.together()
    const [height, next] = await Promise.all([
      together.getBlockNumber(),
      refusalOf(together.call({ ...broadcast, blockTag: 'pending' })),
      together.call({ ...broadcast, blockTag: 'latest' }),
    ])
    if (next !== undefined)
      return {
        ok: false,
        certain: false,
        reason: { code: 'refused_with', params: { answer: next } },
      }
    const feeAtomic = gas * price.maxFeePerGas + dataFeeAtomic
    return { ok: true, gas, ...price, feeAtomic, height: Number(height) }
  } catch (error) {
    if (isShort(error))
      return { ok: false, certain: false, reason: fact('fee_payer_balance_too_low') }
    const reason = refusal(error)
    if (reason === undefined) throw error
    return {
      ok: false,
      certain: true,
      reason: { code: 'refused_with', params: { answer: reason } },
    }
  }
}

/** Why the network refuses a call; undefined where it executes it. */
async function refusalOf(call: Promise<unknown>): Promise<string | undefined> {
  try {
    await call
    return undefined
  } catch (error) {
    const reason = refusal(error)
    if (reason === undefined) throw error
    return reason
  }
}
