import { readFileSync } from 'node:fs'
import * as v from 'valibot'
import { ed25519 } from '@noble/curves/ed25519.js'
import { secp256k1 } from '@noble/curves/secp256k1.js'
import bs58 from 'bs58'
import type { Family } from '#contract/address.ts'
import {
  readStopped,
  readUnaccounted,
  resumeWallet,
  type LedgerRecord,
} from '../db/wallet-ledger.ts'
import { createWallet, listWallets } from '../wallets/create-wallet.ts'
import {
  read,
  readAccount,
  readName,
  UsageError,
  type Commands,
  type Values,
} from './command-line.ts'

const HEX = /^(0x)?[0-9a-fA-F]{64}$/

/**
 * A wallet's secret in the spellings that wallets export: hex on EVM; on Solana base58 of 64 bytes, or the array of a keypair file.
 * @returns 32 bytes; undefined when the text is no key. No error contains the text.
 */
export function readSecret(family: Family, text: string): Uint8Array | undefined {
  const trimmed = text.trim()
  if (family === 'solana') return readSolana(trimmed)
  if (!HEX.test(trimmed)) return undefined
  const secret = Buffer.from(trimmed.replace(/^0x/, ''), 'hex')
  return secp256k1.utils.isValidSecretKey(secret) ? secret : undefined
}

/** The second half is the public key, which must be the first half's. */
function readSolana(text: string): Uint8Array | undefined {
  const bytes = text.startsWith('[') ? readArray(text) : bs58.decodeUnsafe(text)
  if (bytes?.length !== 64) return undefined
  const secret = bytes.slice(0, 32)
  return Buffer.from(ed25519.getPublicKey(secret)).equals(bytes.slice(32)) ? secret : undefined
}

function readArray(text: string): Uint8Array | undefined {
  const numbers = /^\[([0-9, \n]*)\]$/.exec(text)?.[1]?.split(',').map(Number)
  return numbers?.every((number) => Number.isInteger(number) && number < 256)
    ? Uint8Array.from(numbers)
    : undefined
}

export const walletCommands: Commands = {
  'wallet create': {
    options: ['account', 'family', 'name'],
    async run({ db, signer, now }, values) {
      const wallet = await createWallet({ db, signer: await signer(), now }, readWallet(values))
      return {
        value: wallet,
        text: `The service signs for ${wallet.address} from now on (${wallet.id}).`,
      }
    },
  },
  'wallet import': {
    options: ['account', 'family', 'name', 'secret-file'],
    async run({ db, signer, now }, values) {
      const input = readWallet(values)
      const file = read(values, 'secret-file', [
        v.string(),
        'a file with the private key, or - for standard input',
      ])
      const wallet = await createWallet(
        { db, signer: await signer(), now },
        { ...input, secret: readSecretFile(input.family, file) },
      )
      return {
        value: wallet,
        text: `The service signs for ${wallet.address} from now on (${wallet.id}). Remove the file.`,
      }
    },
  },
  'wallet list': {
    options: ['account'],
    async run({ db }, values) {
      const [wallets, stops] = await Promise.all([listWallets(db, values.account), readStopped(db)])
      const listed = wallets.map((wallet) => ({
        ...wallet,
        stopped: stops.filter(({ address }) => address === wallet.address).map(describeStop),
      }))
      const text = listed.map((wallet) =>
        [
          describeWallet(wallet),
          wallet.accountId,
          ...wallet.stopped.map((stop) => `STOPPED: ${stop}`),
        ].join('  '),
      )
      return { value: listed, text: text.join('\n') || 'There are no wallets.' }
    },
  },
  'wallet resume': {
    options: ['wallet', 'accept', 'unchecked'],
    async run({ db }, values) {
      const address = read(values, 'wallet', [
        v.string(),
        'the address of a wallet that is stopped',
      ])
      requireAccepted(
        (await readStopped(db)).filter((stop) => stop.address === address),
        values,
      )
      const resumed = await resumeWallet(db, address, { unchecked: values.unchecked })
      if (resumed.length === 0)
        throw new UsageError(
          `--wallet: expected the address of a wallet that is stopped${values.unchecked ? ', or was not compared with its chain for 30 minutes' : ''}, received ${JSON.stringify(address)}.`,
        )
      const networks = resumed.map(({ network }) => network)
      return {
        value: { address, networks },
        text: `${address} sends again on ${networks.join(' and ')}. Its ledger starts again from its current balance.`,
      }
    },
  },
}

function readWallet(values: Values) {
  return {
    accountId: readAccount(values),
    family: read(values, 'family', [v.picklist(['evm', 'solana']), 'evm or solana']),
    name: readName(values),
  }
}

/** A secret on a command line would be in the list of processes. */
function readSecretFile(family: Family, file: string): Uint8Array {
  const secret = readSecret(family, readFileSync(file === '-' ? 0 : file, 'utf8'))
  if (secret) return secret
  const expected =
    family === 'evm' ? '32 bytes in hex' : 'base58 of 64 bytes, or the array of a keypair file'
  throw new UsageError(
    `--secret-file: expected the private key of a wallet on ${family}, ${expected}.`,
  )
}

/** An operator decides over each transaction that a restored database does not have. */
function requireAccepted(stops: readonly LedgerRecord[], { accept }: Values): void {
  const expected = stops.flatMap(readUnaccounted)
  const accepted = accept === undefined ? [] : accept.split(',').map((each) => each.trim())
  if (expected.toSorted().join() === accepted.toSorted().join()) return
  throw new UsageError(
    `--accept: expected ${expected.join(',') || 'nothing'}, received ${accepted.join(',') || 'nothing'}. Look up each transaction on the chain first: it was paid, and a request that asks for it again pays it again.`,
  )
}

function describeStop({ network, stopReason }: LedgerRecord): string {
  return `${network}: ${stopReason}`
}

function describeWallet({
  id,
  family,
  address,
  name,
}: {
  id: string
  family: Family
  address: string
  name: string
}): string {
  return [id, family, address, `"${name}"`].join('  ')
}
