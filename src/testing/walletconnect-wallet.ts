import { SignClient } from '@walletconnect/sign-client'
import type { PrivateKeyAccount } from 'viem/accounts'
import { handleEvmRequest } from '#devnet/demo-wallet/evm-wallet.ts'

type Request = { method: string; params: unknown[] }

export type RemoteWallet = {
  /** What it was asked, in order. */
  asked: Request[]
  /** Whether the page ended the session. */
  readonly ended: boolean
  /** Takes what the page shows. Resolves when the session stands, or was refused. */
  pair(uri: string): Promise<void>
  disconnect(): Promise<void>
  changeAccount(account: PrivateKeyAccount): Promise<void>
  close(): Promise<void>
}

export type RemoteWalletOptions = {
  relayUrl: string
  account: PrivateKeyAccount
  chainIds: readonly number[]
  methods?: readonly string[]
  /** Whether it lets the page connect. */
  refuses?: boolean
  /** Where it sends payments. */
  rpcUrl?: string
  /** Throws to reject a request that was granted. */
  approve?: () => Promise<void>
}

/** A wallet on another device, with real keys: the official client at the other end of a relay. */
export async function startRemoteWallet(options: RemoteWalletOptions): Promise<RemoteWallet> {
  const client = await SignClient.init({
    projectId: '0'.repeat(32),
    relayUrl: options.relayUrl,
    metadata: {
      name: 'Remote wallet',
      description: 'A wallet of the tests',
      url: 'https://wallet.example',
      icons: [],
    },
    logger: 'silent',
    telemetryEnabled: false,
    customStoragePrefix: crypto.randomUUID(),
  })
  const asked: Request[] = []
  const responses: Promise<void>[] = []
  let { account } = options
  let topic = ''
  let ended = false
  client.on('session_delete', () => void (ended = true))
  let settled = Promise.withResolvers<void>()
  const namespaces = () => ({
    eip155: {
      accounts: options.chainIds.map((id) => `eip155:${id}:${account.address}`),
      methods: [
        ...(options.methods ?? ['eth_sendTransaction', 'personal_sign', 'eth_signTypedData_v4']),
      ],
      events: ['accountsChanged', 'chainChanged'],
    },
  })

  client.on('session_proposal', ({ id }) => {
    const answer = options.refuses
      ? client.reject({ id, reason: { code: 5000, message: 'User rejected.' } })
      : client
          .approve({ id, namespaces: namespaces() })
          .then(async ({ topic: agreed, acknowledged }) => {
            topic = agreed
            await acknowledged()
          })
    answer.then(settled.resolve, settled.reject)
  })
  client.on('session_request', ({ id, topic: session, params }) => {
    const request = params.request as Request
    asked.push(request)
    const chainId = Number(params.chainId.replace('eip155:', ''))
    const owner = {
      network: async () => ({ chainId, rpcUrl: options.rpcUrl ?? '' }),
      account: async () => account,
      connect: async () => account,
      disconnect: () => {},
      approve: options.approve ?? (async () => {}),
    }
    const respond = (
      outcome: { result: unknown } | { error: { code: number; message: string } },
    ) => {
      const response = client.respond({
        topic: session,
        response: { id, jsonrpc: '2.0', ...outcome },
      })
      responses.push(response)
      return response
    }
    void handleEvmRequest(owner, request.method, request.params).then(
      (result) => respond({ result }),
      (error: Error) => respond({ error: { code: 5000, message: error.message } }),
    )
  })

  return {
    asked,
    get ended() {
      return ended
    },
    async pair(uri) {
      settled = Promise.withResolvers<void>()
      await client.pair({ uri })
      await settled.promise
    },
    disconnect: () =>
      client.disconnect({ topic, reason: { code: 6000, message: 'User disconnected.' } }),
    async changeAccount(next) {
      account = next
      await (await client.update({ topic, namespaces: namespaces() })).acknowledged()
    },
    async close() {
      // Until the relay has acknowledged them: without a connection each fails a minute later.
      await Promise.allSettled(responses)
      await closeClient(client)
    },
  }
}

/** It would connect again, and check its connection, as long as this process runs. */
export async function closeClient({
  core,
}: Awaited<ReturnType<typeof SignClient.init>>): Promise<void> {
  core.heartbeat.stop()
  await core.relayer.transportClose()
}
