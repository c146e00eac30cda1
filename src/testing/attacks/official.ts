import { serve } from '@hono/node-server'
import { createKeyPairSignerFromBytes } from '@solana/kit'
import { x402Facilitator } from '@x402/core/facilitator'
import type { FacilitatorClient } from '@x402/core/server'
import type { SchemeNetworkServer } from '@x402/core/types'
import { toFacilitatorEvmSigner } from '@x402/evm'
import { registerExactEvmScheme } from '@x402/evm/exact/facilitator'
import { ExactEvmScheme } from '@x402/evm/exact/server'
import { paymentMiddleware, x402ResourceServer, type Network as NetworkName } from '@x402/hono'
import { toFacilitatorSvmSigner } from '@x402/svm'
import { registerExactSvmScheme } from '@x402/svm/exact/facilitator'
import { ExactSvmScheme } from '@x402/svm/exact/server'
import { Hono } from 'hono'
import { createWalletClient, http, publicActions, type Hex } from 'viem'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import {
  contentOf,
  newShopState,
  PRICES,
  SOLANA_USDC,
  type ShopState,
  type Target,
  type World,
} from './run.ts'

/**
 * The official packages as their documentation sets them up: the Hono middleware with its default
 * settings, and a facilitator in the same process. The two shops have a facilitator each, as two
 * replicas of one deployment do. `confirmations`: for which its signer waits; the example of the
 * packages waits for 1.
 */
export async function openOfficial(world: World, confirmations = 1): Promise<Target> {
  await using stack = new AsyncDisposableStack()
  stack.use(silenceConsole())
  const state = newShopState()
  const feePayers: Hex[] = []
  const payTo = { evm: (await world.evm.wallet(0n)).address, solana: world.takeHolder() }
  const feePayer = await createKeyPairSignerFromBytes(world.takeHolder().secretKey)
  const [evm, solana] = world.networks.map(({ network }) => network as NetworkName)
  if (!evm || !solana) throw new Error('no network')
  async function openFacilitator(): Promise<FacilitatorClient> {
    const account = privateKeyToAccount(generatePrivateKey())
    feePayers.push(account.address)
    await world.evm.client.setBalance({ address: account.address, value: 10n ** 19n })
    const client = createWalletClient({
      account,
      chain: chainOf(world),
      transport: http(world.evm.rpcUrl),
      pollingInterval: 50,
    }).extend(publicActions)
    const facilitator = new x402Facilitator()
    registerExactEvmScheme(facilitator, {
      signer: toFacilitatorEvmSigner({
        address: account.address,
        getCode: (args) => client.getCode(args),
        readContract: (args) => client.readContract(args),
        verifyTypedData: (args) =>
          client.verifyTypedData(args as Parameters<typeof client.verifyTypedData>[0]),
        writeContract: (args) => client.writeContract(args),
        sendTransaction: (args) => client.sendTransaction(args),
        waitForTransactionReceipt: (args) =>
          client.waitForTransactionReceipt({ ...args, confirmations }),
      }),
      networks: evm as NetworkName,
    })
    registerExactSvmScheme(facilitator, {
      signer: toFacilitatorSvmSigner(feePayer, { defaultRpcUrl: world.solana.rpcUrl }),
      networks: solana as NetworkName,
    })
    return {
      verify: async (payload, requirements) =>
        state.facilitatorLies ? { isValid: true } : facilitator.verify(payload, requirements),
      settle: async (payload, requirements) =>
        state.facilitatorLies
          ? { success: true, transaction: state.facilitatorLies, network: requirements.network }
          : facilitator.settle(payload, requirements),
      getSupported: async () =>
        facilitator.getSupported() as Awaited<ReturnType<FacilitatorClient['getSupported']>>,
    }
  }
  const open = async () =>
    stack.use(
      await openShop({
        world,
        payTo,
        state,
        facilitator: await openFacilitator(),
        schemes: [new ExactEvmScheme(), new ExactSvmScheme()],
      }),
    ).url
  const shops = [await open(), await open()] as const
  const running = stack.move()
  return {
    name: 'x402 2.27',
    kind: 'official',
    shops,
    payTo,
    feePayers,
    state,
    [Symbol.asyncDispose]: () => running.disposeAsync(),
  }
}

/** The packages print a stack trace for every payment that they cannot read or settle. */
function silenceConsole(): Disposable {
  const { error, warn } = console
  const silent = () => undefined
  Object.assign(console, { error: silent, warn: silent })
  return { [Symbol.dispose]: () => void Object.assign(console, { error, warn }) }
}

function chainOf({ evm }: World) {
  return {
    id: Number(evm.network.network.split(':')[1]),
    name: 'Local EVM',
    nativeCurrency: { name: 'Ether', symbol: 'ETH', decimals: 18 },
    rpcUrls: { default: { http: [evm.rpcUrl] } },
  }
}

export type PricedPaths = Record<
  string,
  { network: 0 | 1; asset: string; amount: bigint; units: number; extra: Record<string, string> }
>

/** The resources of every shop: two of one price, one for Permit2, one on Solana. */
export function pricedPaths({ tokens }: World): PricedPaths {
  const usdc = {
    network: 0,
    asset: tokens.usdc.address,
    amount: PRICES.usdc,
    units: 1_000,
    extra: { name: 'USD Coin', version: '2', assetTransferMethod: 'eip3009' },
  } as const
  return {
    '/a': usdc,
    '/b': usdc,
    '/permit2': {
      network: 0,
      asset: tokens.weth.address,
      amount: PRICES.weth,
      units: 10,
      extra: { assetTransferMethod: 'permit2' },
    },
    '/solana': { network: 1, asset: SOLANA_USDC, amount: PRICES.solana, units: 1_000, extra: {} },
  }
}

export type Shop = AsyncDisposable & { url: string }

/** A resource server with the official middleware. */
export function openShop({
  world,
  payTo,
  state,
  facilitator,
  schemes,
}: {
  world: World
  payTo: Target['payTo']
  state: ShopState
  facilitator: FacilitatorClient
  schemes: readonly [SchemeNetworkServer, SchemeNetworkServer]
}): Promise<Shop> {
  const resources = new x402ResourceServer(facilitator)
  const names = world.networks.map(({ network }) => network as NetworkName)
  for (const [index, scheme] of schemes.entries()) {
    const name = names[index]
    if (name) resources.register(name, scheme)
  }
  const paths = pricedPaths(world)
  const config = Object.fromEntries(
    Object.entries(paths).map(([path, { network, asset, amount, extra }]) => [
      `GET ${path}`,
      {
        accepts: {
          scheme: 'exact',
          network: names[network] ?? 'eip155:0',
          payTo: network === 0 ? payTo.evm : payTo.solana.publicKey.toBase58(),
          price: { asset, amount: amount.toString(), extra: { ...extra } },
        },
      },
    ]),
  )
  // `strict: false`: a path with a slash at its end is the same resource.
  const app = new Hono({ strict: false })
  app.use(paymentMiddleware(config, resources))
  for (const path of Object.keys(paths))
    app.get(path, async (c) => {
      state.runs++
      await state.during?.()
      return c.text(contentOf(path))
    })
  return listen(app)
}

export function listen(app: Hono): Promise<Shop> {
  return new Promise((resolve) => {
    const server = serve({ fetch: app.fetch, port: 0, hostname: '127.0.0.1' }, ({ port }) =>
      resolve({
        url: `http://127.0.0.1:${port}`,
        [Symbol.asyncDispose]: () =>
          new Promise<void>((closed) => {
            server.close(() => closed())
            if ('closeAllConnections' in server) server.closeAllConnections()
          }),
      }),
    )
  })
}
