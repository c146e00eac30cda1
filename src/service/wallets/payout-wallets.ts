import { randomBytes } from 'node:crypto'
import { hashMessage, isHex } from 'viem'
import { isSignedByEvm } from '#chains/evm/verify-signature.ts'
import { isSignedBySolana } from '#chains/solana/signature.ts'
import type { EndpointInput, EndpointReply } from '#contract/endpoints.ts'
import { createId } from '#contract/payment.ts'
import { familyOf, type NetworkId } from '#contract/network.ts'
import { signInMessage } from '#contract/sign-in-message.ts'
import type { Actor, Context } from '../context/context.ts'
import { chooseNetwork, refuseParameters, chainOf } from '../context/network.ts'
import {
  insertWalletChallenge,
  takeWalletChallenge,
  isFamilyScope,
  readOwners,
  type WalletOwnerRecord,
} from '../db/wallet-owners.ts'
import { familyOfAddress, registerWallet, releaseWallet } from './ownership.ts'

const CHALLENGE_MS = 5 * 60_000
const NONCE_BYTES = 16

/** Writes the text by which a wallet proves that it belongs to the caller's account. `network`: the chain of a contract. */
export async function issueWalletChallenge(
  context: Context,
  actor: Actor,
  { walletAddress, network: named }: EndpointInput<'payoutChallenge'>['body'],
): Promise<EndpointReply<'payoutChallenge'>> {
  const choice = chooseNetwork(context.config.networks, walletAddress, named)
  if (!choice.ok)
    throw refuseParameters({ [named === undefined ? 'walletAddress' : 'network']: choice.problem })
  const { network } = choice.network
  const id = createId('wch')
  const issuedAt = context.now()
  const expiresAt = new Date(issuedAt.getTime() + CHALLENGE_MS)
  const message = signInMessage({
    origin: originOf(context),
    wallet: walletAddress,
    network,
    statement: `Register this wallet as a payout wallet of the Paydesk account ${actor.accountId}. This moves no money and costs nothing.`,
    nonce: randomBytes(NONCE_BYTES).toString('hex'),
    issuedAt,
    expiresAt,
    requestId: id,
  })
  const contractNetwork = named !== undefined && familyOf(network) === 'evm' ? network : null
  await insertWalletChallenge(context.db, {
    id,
    accountId: actor.accountId,
    address: walletAddress,
    network: contractNetwork,
    message,
    expiresAt,
  })
  return { success: true, challengeId: id, message, expiresAt: expiresAt.getTime() }
}

/**
 * Registers the wallet that signed a challenge of the caller's account. The challenge is taken before the signature is looked at: a second request with it, or
 * one that races the first, finds nothing.
 * @throws `INVALID_PARAMETERS`; `FORBIDDEN` (`wallet_owned`); `CHAIN_UNAVAILABLE`
 */
export async function registerPayoutWallet(
  context: Context,
  actor: Actor,
  { challengeId, signature }: EndpointInput<'payoutRegister'>['body'],
): Promise<EndpointReply<'payoutRegister'>> {
  const { accountId } = actor
  const challenge = await takeWalletChallenge(context.db, { id: challengeId, accountId })
  if (!challenge || challenge.expiresAt <= context.now())
    throw refuseParameters({
      challengeId:
        'Expected a challenge of this account that is not used and not expired. Ask for a new one.',
    })
  const { address, network, message } = challenge
  const signer = await verifyOwnership(context, { address, network, message, signature })
  if (signer === null)
    throw refuseParameters({
      signature: `Expected the signature of ${address} over the message of the challenge. The challenge is used: ask for a new one.`,
    })
  const { owner } = await registerWallet(
    { db: context.db, now: context.now() },
    {
      accountId,
      address,
      network: signer === 'contract' ? network : null,
      proof: 'signature',
      signed: { message, signature },
      networks: context.config.networks.map((configured) => configured.network),
    },
  )
  return { success: true, wallet: describeOwned(owner) }
}

/** Every wallet that the caller's account owns, the oldest first. */
export async function listPayoutWallets(
  { db }: Context,
  { accountId }: Actor,
): Promise<EndpointReply<'payoutList'>> {
  const owners = await readOwners(db, accountId)
  return { success: true, wallets: owners.map(describeOwned) }
}

/** @throws `NOT_FOUND`; `FORBIDDEN` (`wallet_managed`) */
export async function releasePayoutWallet(
  context: Context,
  { accountId }: Actor,
  walletAddress: string,
): Promise<EndpointReply<'payoutRelease'>> {
  const released = await releaseWallet({ db: context.db, now: context.now() }, walletAddress, {
    accountId,
  })
  return { success: true, released: released.map(describeOwned) }
}

function describeOwned({ address, scope, kind, proof, createdAt }: WalletOwnerRecord) {
  return {
    walletAddress: address,
    family: familyOfAddress(address),
    network: networkOf(scope),
    kind,
    proof,
    createdAt: createdAt.getTime(),
  }
}

function networkOf(scope: string): NetworkId | null {
  return isFamilyScope(scope) ? null : scope
}

/**
 * The site that the text names. Never from the request: its `Host` is what its sender writes, who could have a wallet told the name of the very page that asks
 * for the signature.
 */
function originOf({ config }: Context): string {
  return config.publicUrl ?? `http://${config.host}:${config.port}`
}

type SignedText = {
  address: string
  network: NetworkId | null
  message: string
  signature: string
}

/**
 * Who signed a text: the key of the address, which is one owner's on every chain of its family, or a contract at the address, on the chain named. Null where
 * neither did.
 * @throws `CHAIN_UNAVAILABLE`
 */
async function verifyOwnership(
  context: Context,
  { address, network, message, signature }: SignedText,
): Promise<'key' | 'contract' | null> {
  if (familyOfAddress(address) === 'solana')
    return isSignedBySolana(address, message, signature) ? 'key' : null
  if (isSignedByEvm(address, message, signature)) return 'key'
  if (network === null || !isHex(signature) || signature.length % 2 !== 0) return null
  const { contracts } = chainOf(context, network)
  const accepted = await contracts?.accepts({ address, hash: hashMessage(message), signature })
  return accepted === true ? 'contract' : null
}
