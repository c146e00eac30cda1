import type { AddressInfo } from 'node:net'
import { env } from 'node:process'
import { x402Facilitator } from '@x402/core/facilitator'
import { toFacilitatorEvmSigner } from '@x402/evm'
import { registerExactEvmScheme } from '@x402/evm/exact/facilitator'
import express, { type RequestHandler } from 'express'
import { createWalletClient, http, publicActions, type Hex } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'

/** The official facilitator as its basic example sets it up: the packages of x402 on Express. */

const account = privateKeyToAccount(env.KEY as Hex)
const chain = {
  id: Number(env.CHAIN_ID),
  name: 'Local EVM',
  nativeCurrency: { name: 'Ether', symbol: 'ETH', decimals: 18 },
  rpcUrls: { default: { http: [env.RPC_URL ?? ''] } },
}
const client = createWalletClient({
  account,
  chain,
  transport: http(env.RPC_URL),
  pollingInterval: 200,
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
    waitForTransactionReceipt: (args) => client.waitForTransactionReceipt(args),
  }),
  networks: `eip155:${chain.id}`,
})

const handle =
  (method: 'verify' | 'settle'): RequestHandler =>
  ({ body: { paymentPayload, paymentRequirements } }, response, next) => {
    facilitator[method](paymentPayload, paymentRequirements).then(
      (answer) => response.json(answer),
      next,
    )
  }
const app = express()
app.use(express.json())
app.post('/verify', handle('verify'))
app.post('/settle', handle('settle'))
const server = app.listen(0, '127.0.0.1', () =>
  console.log(`port ${(server.address() as AddressInfo).port}`),
)
