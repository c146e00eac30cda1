import { erc20Abi, type Hex } from 'viem'
import { generatePrivateKey, privateKeyToAccount, type PrivateKeyAccount } from 'viem/accounts'
import type { VerifiedAuthorization } from '#chains/evm/authorization.ts'
import type { Asset } from '#contract/network.ts'
import type { Chain } from '#service/chains/chain.ts'
import type { Context } from '#service/context/context.ts'
import { VerificationReport } from '#service/verification/verification-report.ts'
import { verifyProof } from '#service/verification/verify-proof.ts'
import { readProof, receivePayment } from '#service/settlement/receive.ts'
import type { Requirements } from '#x402/requirements.ts'
import { startEvm, type EvmFixture } from './local-chains.ts'
import type { Engine } from './postgres.ts'
import { openContext } from './service-context.ts'
import { approvePermit2, deployTokens, evmPayer, withFacilitator } from './token-payers.ts'

const USDC = 1_500_000n
const ETHER = 10n ** 18n

export type TokenMethod = 'eip3009' | 'permit2'
export type TokenFixture = Awaited<ReturnType<typeof openTokenFixture>>
export type MinedTokenFixture = Awaited<ReturnType<typeof openMinedTokenFixture>>
export type Parties = Awaited<ReturnType<TokenFixture['parties']>>
type Body = Parameters<typeof receivePayment>[2]

/**
 * A service that executes token payments signed by their payers on a bare EVM chain, with a managed
 * wallet that pays the network fee, and people to pay each other.
 */
export async function openTokenFixture(
  evm: EvmFixture,
  options: { engine?: Engine; rpcUrls?: string[]; now?: () => Date } = {},
) {
  const { rpcUrls = evm.network.rpcUrls, ...rest } = options
  const tokens = await deployTokens(evm)
  const opened = await openContext([{ ...tokens.network, rpcUrls }], rest)
  const key = generatePrivateKey()
  const facilitator = privateKeyToAccount(key)
  await evm.client.setBalance({ address: facilitator.address, value: ETHER })
  const context = await withFacilitator(opened.context, opened.actor.accountId, { evm: key })
  const [network] = context.config.networks
  if (!network) throw new Error('no network')
  const chain = context.chains.get(network.network)
  if (!chain) throw new Error('no chain')

  async function parties(
    wanted: { method?: TokenMethod; asset?: Asset; amount?: bigint; validSeconds?: number } = {},
  ) {
    const {
      method = 'eip3009',
      asset = method === 'eip3009' ? tokens.usdc : tokens.weth,
      amount = USDC,
      validSeconds = 60,
    } = wanted
    const [payer, payee] = await Promise.all([evm.wallet(ETHER), evm.wallet(0n)])
    await tokens.fund(payer.address)
    if (method === 'permit2') await approvePermit2(evm, payer, asset)
    const requirements: Requirements = {
      scheme: 'exact',
      network: evm.network.network,
      amount: amount.toString(),
      asset: asset.address,
      payTo: payee.address,
      maxTimeoutSeconds: validSeconds,
      extra: {
        assetTransferMethod: method,
        ...(method === 'eip3009' && { name: 'USD Coin', version: '2' }),
      },
    }
    return { payer, payee, asset, amount, method, requirements, client: evmPayer(evm, payer) }
  }

  return {
    tokens,
    opened,
    context,
    actor: opened.actor,
    facilitator,
    chain,
    parties,
    receive: (
      all: Awaited<ReturnType<typeof parties>>,
      paymentProof: string,
      changes: Partial<Body> = {},
      within: Context = context,
    ) =>
      receivePayment(within, opened.actor, {
        walletAddress: all.payee.address,
        paymentProof,
        expectedAmount: all.asset.symbol === 'USDC' ? '1.5' : '0.0000000000015',
        asset: all.asset.symbol,
        resource: 'https://shop.example/a',
        timeout: 30,
        ...changes,
      }),
    balance: (asset: Asset, owner: string) =>
      evm.client.readContract({
        address: asset.address as Hex,
        abi: erc20Abi,
        functionName: 'balanceOf',
        args: [owner as Hex],
      }),
    async authorizationOf(
      all: { asset: Asset; payee: PrivateKeyAccount; amount: bigint },
      header: string,
    ): Promise<VerifiedAuthorization> {
      const report = new VerificationReport()
      const open = {
        resource: null,
        resourceInfo: null,
        memo: null,
        method: null,
        notBefore: null,
        expiresAt: null,
        feePayers: [],
      }
      const terms = {
        network,
        asset: all.asset,
        payTo: all.payee.address,
        amountAtomic: all.amount,
        ...open,
      }
      const { authorization } = await verifyProof({
        payment: readProof(header, report),
        terms,
        report,
      })
      if (!authorization) throw new Error('no authorization')
      return { ...authorization, signedBy: 'key' }
    },
    /** The service with parts of its chain replaced. */
    withChain: (changes: Partial<Chain>): Context => ({
      ...context,
      chains: new Map([[network.network, { ...chain, ...changes }]]),
    }),
    [Symbol.asyncDispose]: () => opened[Symbol.asyncDispose](),
  }
}

/** The same with a separate chain that mines by itself, and a Postgres server. */
export async function openMinedTokenFixture() {
  const evm = await startEvm({ slotsInEpoch: 4 })
  const fixture = await openTokenFixture(evm, { engine: 'postgres' })
  const startMining = () => setInterval(() => void evm.mine().catch(() => undefined), 200)
  let miner = startMining()
  return {
    ...fixture,
    evm,
    /** Only requested blocks are mined, until the returned object is disposed. */
    withoutMining(): Disposable {
      clearInterval(miner)
      return {
        [Symbol.dispose]: () => {
          miner = startMining()
        },
      }
    },
    async [Symbol.asyncDispose]() {
      clearInterval(miner)
      await fixture[Symbol.asyncDispose]()
      await evm[Symbol.asyncDispose]()
    },
  }
}
