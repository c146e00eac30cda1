import {
  encodeDeployData,
  encodeFunctionData,
  erc6492SignatureValidatorAbi,
  erc6492SignatureValidatorByteCode,
  isErc6492Signature,
  padHex,
  parseAbi,
  parseErc6492Signature,
  sliceHex,
  size,
  type Hex,
  type PublicClient,
} from 'viem'
import { refusal } from './simulate.ts'

/**
 * Gas that a contract may use to check a signature, and to be deployed before that. One that loops
 * ends there.
 */
const MAX_GAS = 5_000_000n
const WORD = 32

const abi = parseAbi([
  'function isValidSignature(bytes32 hash, bytes signature) view returns (bytes4)',
])
const ACCEPTED = padHex('0x1626ba7e', { dir: 'right', size: WORD })

/**
 * Whether a contract accepts a signature (EIP-1271). One that is not deployed yet is deployed in
 * the simulation, as the signature says (ERC-6492); a deployed one is asked as it is. An address
 * without code accepts nothing here: its key signs.
 * @throws what viem throws when the node does not answer; anything the contract does is an answer
 */
export async function acceptsSignature(
  client: PublicClient,
  { address, hash, signature }: { address: string; hash: Hex; signature: Hex },
): Promise<boolean> {
  const contract = address as Hex
  const deployed = (await client.getCode({ address: contract })) !== undefined
  const wrapped = isErc6492Signature(signature)
  if (!deployed && !wrapped) return false
  if (deployed) {
    const inner = wrapped ? unwrap(signature) : signature
    if (inner === undefined) return false
    const data = encodeFunctionData({ abi, functionName: 'isValidSignature', args: [hash, inner] })
    const answer = await callContract(client, { to: contract, data })
    // Bytes after the first word are ignored, as an on-chain caller does.
    return (
      answer !== undefined &&
      size(answer) >= WORD &&
      sliceHex(answer, 0, WORD).toLowerCase() === ACCEPTED
    )
  }
  const data = encodeDeployData({
    abi: erc6492SignatureValidatorAbi,
    args: [contract, hash, signature],
    bytecode: erc6492SignatureValidatorByteCode,
  })
  const answer = await callContract(client, { data })
  return answer !== undefined && size(answer) <= WORD && BigInt(answer) === 1n
}

/** What the call returned; undefined where it returned nothing or was refused. */
async function callContract(
  client: PublicClient,
  call: { to?: Hex; data: Hex },
): Promise<Hex | undefined> {
  try {
    const { data } = await client.call({ ...call, gas: MAX_GAS })
    return data === '0x' ? undefined : data
  } catch (error) {
    if (refusal(error) === undefined) throw error
    return undefined
  }
}

function unwrap(signature: Hex): Hex | undefined {
  try {
    return parseErc6492Signature(signature).signature
  } catch {
    // The suffix alone does not make such a signature.
    return undefined
  }
}
