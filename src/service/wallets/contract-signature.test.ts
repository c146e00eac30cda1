import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import {
  concatHex,
  encodeErrorResult,
  getContractAddress,
  pad,
  parseAbi,
  serializeErc6492Signature,
  type Hex,
} from 'viem'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { NetworkId } from '#contract/network.ts'
import { startEvm, type EvmFixture } from '#testing/local-chains.ts'
import { openAccount, openContext, type OpenedContext } from '#testing/service-context.ts'
import { findOwner } from '../db/wallet-owners.ts'
import { issueWalletChallenge, registerPayoutWallet } from './payout-wallets.ts'

const HERE = 'eip155:31337'
const THERE = 'eip155:31338'

/** Answers every call with the word for "signed". */
const ACCEPTS = '0x631626ba7e60e01b60005260206000f3'
/** Deploys it. */
const DEPLOYS_ACCEPTS = `0x6f${ACCEPTS.slice(2)}60005260106010f3` as const
/** Deploys, with CREATE2 and salt 0, what it is called with. */
const FACTORY = '0x36600060003760003660006000f500'
const FACTORY_ADDRESS = '0x00000000000000000000000000000000000fac70'

let here: EvmFixture
let there: EvmFixture
let opened: OpenedContext

beforeAll(async () => {
  ;[here, there] = await Promise.all([
    startEvm({ slotsInEpoch: 4 }),
    startEvm({ slotsInEpoch: 4, chainId: 31_338 }),
  ])
  opened = await openContext([here.network, there.network])
  await here.setCode(FACTORY_ADDRESS, FACTORY)
})
afterAll(async () => {
  await opened?.[Symbol.asyncDispose]()
  await Promise.all([here?.[Symbol.asyncDispose](), there?.[Symbol.asyncDispose]()])
})

const newAddress = () => privateKeyToAccount(generatePrivateKey()).address

async function register(
  walletAddress: string,
  network: NetworkId | undefined,
  sign: (message: string) => Hex | Promise<Hex>,
) {
  const actor = await openAccount(opened.context)
  const { challengeId, message } = await issueWalletChallenge(opened.context, actor, {
    walletAddress,
    network,
  })
  return registerPayoutWallet(opened.context, actor, {
    challengeId,
    signature: await sign(message),
  })
}

const notSigned = {
  code: 'INVALID_PARAMETERS',
  facts: { details: { signature: expect.any(String) } },
}

test('a contract that accepts the signature (EIP-1271) is owned on its chain, and on no other', async () => {
  const wallet = newAddress()
  await here.setCode(wallet, ACCEPTS)
  await expect(register(wallet, THERE, () => '0x')).rejects.toMatchObject(notSigned)
  await expect(register(wallet, undefined, () => '0x')).rejects.toMatchObject(notSigned)
  expect((await register(wallet, HERE, () => '0x')).wallet).toMatchObject({
    walletAddress: wallet,
    network: HERE,
    proof: 'signature',
  })
  expect(await findOwner(opened.context.db, HERE, wallet)).toEqual(expect.stringMatching(/^acc_/))
  expect(await findOwner(opened.context.db, THERE, wallet)).toBeUndefined()
  await there.setCode(wallet, ACCEPTS)
  expect((await register(wallet, THERE, () => '0x')).wallet).toMatchObject({ network: THERE })
})

test('a key that signs is owned on every chain, also where a chain is named', async () => {
  const account = privateKeyToAccount(generatePrivateKey())
  expect(
    (await register(account.address, HERE, (message) => account.signMessage({ message }))).wallet,
  ).toMatchObject({ network: null })
  expect(await findOwner(opened.context.db, THERE, account.address)).toBeDefined()
})

test('a contract that is not deployed yet signs with what deploys it (ERC-6492)', async () => {
  const wallet = getContractAddress({
    opcode: 'CREATE2',
    from: FACTORY_ADDRESS,
    salt: pad('0x00'),
    bytecode: DEPLOYS_ACCEPTS,
  })
  const wrapped = serializeErc6492Signature({
    address: FACTORY_ADDRESS,
    data: DEPLOYS_ACCEPTS,
    signature: '0x1234',
  })
  await expect(register(wallet, HERE, () => '0x1234')).rejects.toMatchObject(notSigned)
  // The factory is not there.
  await expect(register(wallet, THERE, () => wrapped)).rejects.toMatchObject(notSigned)
  await expect(register(newAddress(), HERE, () => wrapped)).rejects.toMatchObject(notSigned)
  expect((await register(wallet, HERE, () => wrapped)).wallet).toMatchObject({
    walletAddress: wallet,
    network: HERE,
  })
})

describe('is not signed', () => {
  const OFFCHAIN = parseAbi([
    'error OffchainLookup(address sender, string[] urls, bytes callData, bytes4 callbackFunction, bytes extraData)',
  ])

  test.each([
    ['reverts', '0x60006000fd'],
    ['loops', '0x5b600056'],
    ['runs an invalid instruction', '0xfe'],
    ['returns nothing', '0x00'],
    ['returns four bytes', '0x631626ba7e60e01b60005260046000f3'],
    ['returns another word', '0x63ffffffff60e01b60005260206000f3'],
    ['returns the word at the wrong end', '0x631626ba7e60005260206000f3'],
    ['returns 200 kB', '0x62030d406000f3'],
  ] as const)('by a contract that %s', async (_, code) => {
    const wallet = newAddress()
    await here.setCode(wallet, code)
    const startedAt = performance.now()
    await expect(register(wallet, HERE, () => '0x1234')).rejects.toMatchObject(notSigned)
    expect(performance.now() - startedAt).toBeLessThan(8_000)
    // The node did answer.
    await opened.context.chains.get(HERE)?.check()
  })

  test('by junk of any length in place of a signature', async () => {
    const wallet = newAddress()
    await here.setCode(wallet, '0x60006000fd')
    const suffix = '6492'.repeat(16)
    const junk = [
      '0x',
      '0x1',
      '0xzz',
      'x',
      `0x${suffix}`,
      `0x${'ff'.repeat(96)}${suffix}`,
      `0x${'00'.repeat(65)}`,
      `0x${'ab'.repeat(16_000)}`,
      `0x${'ab'.repeat(15_000)}${suffix}`,
    ]
    for (const address of [wallet, newAddress()])
      for (const signature of junk)
        await expect(
          register(address, HERE, () => signature as Hex),
          signature.slice(0, 40),
        ).rejects.toMatchObject(notSigned)
  })

  test('by the high one of the two signatures of a key, wrapped or not', async () => {
    const account = privateKeyToAccount(generatePrivateKey())
    const high = async (message: string): Promise<Hex> => {
      const signature = await account.signMessage({ message })
      const s =
        0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n -
        BigInt(`0x${signature.slice(66, 130)}`)
      return concatHex([
        signature.slice(0, 66) as Hex,
        pad(`0x${s.toString(16)}`),
        signature.endsWith('1b') ? '0x1c' : '0x1b',
      ])
    }
    await expect(register(account.address, HERE, high)).rejects.toMatchObject(notSigned)
    const wrap = async (message: string) =>
      serializeErc6492Signature({
        address: FACTORY_ADDRESS,
        data: '0x',
        signature: await high(message),
      })
    await expect(register(account.address, HERE, wrap)).rejects.toMatchObject(notSigned)
  })

  test('by a contract that sends this service elsewhere (CCIP-Read), and nothing is requested there', async () => {
    const requests: string[] = []
    const server = createServer((request, response) => {
      requests.push(request.url ?? '')
      response.end(JSON.stringify({ data: pad('0x1626ba7e', { dir: 'right' }) }))
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    try {
      const wallet = newAddress()
      const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/{sender}/{data}`
      const error = encodeErrorResult({
        abi: OFFCHAIN,
        errorName: 'OffchainLookup',
        args: [wallet, [url], '0x', '0x1626ba7e', '0x'],
      })
      const length = ((error.length - 2) / 2).toString(16).padStart(4, '0')
      // Copies what follows the code into memory and reverts with it.
      await here.setCode(wallet, concatHex([`0x61${length}600e60003961${length}6000fd`, error]))
      await expect(register(wallet, HERE, () => '0x1234')).rejects.toMatchObject(notSigned)
      expect(requests).toEqual([])
    } finally {
      server.close()
    }
  })
})

test('a chain that does not answer decides nothing', async () => {
  const wallet = newAddress()
  await using deaf = await openContext([{ ...here.network, rpcUrls: ['http://127.0.0.1:9'] }])
  const { challengeId, message } = await issueWalletChallenge(deaf.context, deaf.actor, {
    walletAddress: wallet,
    network: HERE,
  })
  expect(message).toContain(wallet)
  await expect(
    registerPayoutWallet(deaf.context, deaf.actor, { challengeId, signature: '0x1234' }),
  ).rejects.toMatchObject({ code: 'CHAIN_UNAVAILABLE' })
})
