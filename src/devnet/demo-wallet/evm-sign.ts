import * as v from 'valibot'
import { bytesToString, hexToBytes, isHex, type Hex } from 'viem'
import { readTransferCall } from '#chains/evm/erc20.ts'
import { formatAmount } from '#contract/amount.ts'
import { setup, type Person } from './people.ts'
import { node, nodeQuantity, ProviderError } from './rpc.ts'
import { requestApproval } from './approval-dialog.ts'

const hex = v.custom<Hex>((value) => isHex(value, { strict: true }))
const quantity = v.optional(
  v.pipe(
    hex,
    v.transform((text) => BigInt(text)),
  ),
)

const Call = v.object({
  from: hex,
  to: v.optional(hex),
  value: quantity,
  data: v.optional(hex, '0x'),
  gas: quantity,
  nonce: quantity,
  maxFeePerGas: quantity,
  maxPriorityFeePerGas: quantity,
  gasPrice: quantity,
  chainId: quantity,
})

type Signing = { person: Person; chainId: number }

/** `eth_sendTransaction`: shows it, signs it here, sends it through the local node. */
export async function sendTransaction(
  { person, chainId }: Signing,
  [input]: readonly unknown[],
): Promise<Hex> {
  const call = read(Call, input)
  mustOwn(person, call.from)
  if (call.chainId !== undefined && call.chainId !== BigInt(chainId))
    throw new ProviderError(
      -32602,
      `This wallet is on chain ${chainId}, the transaction on ${call.chainId}.`,
    )
  const value = call.value ?? 0n
  const plain = {
    from: call.from,
    ...(call.to && { to: call.to }),
    value: `0x${value.toString(16)}`,
    data: call.data,
  }
  const gas = call.gas ?? (await nodeQuantity('eth_estimateGas', [plain]))
  const gasPrice = call.gasPrice ?? (await nodeQuantity('eth_gasPrice', []))
  const maxFeePerGas = call.maxFeePerGas ?? gasPrice * 2n
  const maxPriorityFeePerGas =
    call.maxPriorityFeePerGas ?? (maxFeePerGas < gasPrice ? maxFeePerGas : gasPrice)
  const answer = await requestApproval({
    title: 'Send this payment?',
    explanation: `From ${person.name}, on the local network.`,
    facts: [
      ...(await describeCall({ to: call.to, value, data: call.data })),
      ['Network fee at most', `${formatAmount(gas * maxFeePerGas, 18)} ETH`],
    ],
    approve: 'Approve',
  })
  if (answer === undefined) throw refused()
  // The person may have waited: the nonce is the one of this moment, unless the page named it.
  const nonce =
    call.nonce ?? (await nodeQuantity('eth_getTransactionCount', [call.from, 'pending']))
  const signed = await person.evm.signTransaction({
    type: 'eip1559',
    chainId,
    nonce: Number(nonce),
    gas,
    maxFeePerGas,
    maxPriorityFeePerGas,
    to: call.to,
    value,
    data: call.data,
  })
  return read(hex, await node('eth_sendRawTransaction', [signed]))
}

/** A transfer of a token that the wallet knows is told in its units; any other data as it is. */
async function describeCall({
  to,
  value,
  data,
}: {
  to: Hex | undefined
  value: bigint
  data: Hex
}): Promise<(readonly [string, string])[]> {
  const { tokens } = await setup()
  const token = to && tokens.find(({ address }) => address.toLowerCase() === to.toLowerCase())
  const transfer = token && value === 0n ? readTransferCall(data) : undefined
  if (token && transfer)
    return [
      ['Amount', `${formatAmount(transfer.amountAtomic, token.decimals)} ${token.symbol}`],
      ['To', transfer.recipient],
      ['Token', token.address],
    ]
  return [
    ['Amount', `${formatAmount(value, 18)} ETH`],
    ['To', to ?? 'A new contract'],
    ...(data === '0x' ? [] : ([['Data', data]] as const)),
  ]
}

/** `personal_sign`: the text first, then who signs. */
export async function signMessage(
  { person }: Signing,
  [message, address]: readonly unknown[],
): Promise<Hex> {
  mustOwn(person, read(hex, address))
  const raw = read(v.string(), message)
  const bytes = isHex(raw, { strict: true }) ? hexToBytes(raw) : new TextEncoder().encode(raw)
  await confirmSigning(person, bytesToString(bytes))
  return person.evm.signMessage({ message: { raw: bytes } })
}

const TypedData = v.object({
  types: v.record(v.string(), v.array(v.object({ name: v.string(), type: v.string() }))),
  primaryType: v.string(),
  domain: v.record(v.string(), v.unknown()),
  message: v.record(v.string(), v.unknown()),
})

/** `eth_signTypedData_v4`: who signs first, then the data as JSON. */
export async function signTypedData(
  { person, chainId }: Signing,
  [address, json]: readonly unknown[],
): Promise<Hex> {
  mustOwn(person, read(hex, address))
  const data = read(TypedData, typeof json === 'string' ? JSON.parse(json) : json)
  const { chainId: domainChain } = data.domain
  if (domainChain !== undefined && Number(domainChain) !== chainId)
    throw new ProviderError(
      -32602,
      `This wallet is on chain ${chainId}, the data on ${String(domainChain)}.`,
    )
  await confirmSigning(
    person,
    JSON.stringify({ domain: data.domain, [data.primaryType]: data.message }, null, 2),
  )
  return person.evm.signTypedData(data)
}

async function confirmSigning(person: Person, text: string): Promise<void> {
  const answer = await requestApproval({
    title: 'Sign this message?',
    explanation: `${location.host} asks ${person.name} to sign. Nothing is paid.`,
    text,
    approve: 'Sign',
  })
  if (answer === undefined) throw refused()
}

export function refused(): ProviderError {
  return new ProviderError(4001, 'The person refused the request.')
}

function mustOwn(person: Person, address: Hex): void {
  if (address.toLowerCase() !== person.evm.address.toLowerCase())
    throw new ProviderError(4100, 'This page is not connected to that account.')
}

function read<S extends v.GenericSchema>(schema: S, input: unknown): v.InferOutput<S> {
  const result = v.safeParse(schema, input)
  if (!result.success)
    throw new ProviderError(-32602, `The request is malformed: ${result.issues[0].message}`)
  return result.output
}
