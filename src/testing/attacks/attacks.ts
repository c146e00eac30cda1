import { Keypair } from '@solana/web3.js'
import { x402ExactPermit2ProxyABI, x402ExactPermit2ProxyAddress } from '@x402/evm'
import * as v from 'valibot'
import { encodeFunctionData, erc20Abi, getAddress, type Hex } from 'viem'
import { alter } from '../proofs.ts'
import { deployCode } from '../contract-payers.ts'
import { queueFrom, sendFrom } from '../token-payers.ts'
import {
  authorizationHeader,
  authorize,
  newNonce,
  nowSeconds,
  signAuthorization,
  type ResourcePrice,
  type PublishedAttack,
} from './run.ts'
import {
  broadcastFirst,
  emptyWallet,
  headerTwins,
  meet,
  Permit2Header,
  prepare,
  reorganize,
  sharedCache,
  soon,
  times,
  transferEvent,
  UNREADABLE,
  untilChainTime,
  untilPooled,
  usdcAbi,
} from './steps.ts'

/** Every published attack on x402 that can be executed on these chains. */

const FIVE = 'Five Attacks on x402, arXiv:2605.11781'
const FREE_RIDING = 'Free-Riding the Agentic Web, arXiv:2605.30998 (ATC 2026)'
const RULES = 'When HTTP 402 Meets the Blockchain, arXiv:2607.19545'
const issue = (number: number) => `x402-foundation/x402#${number}`

const ONCE = 'One payment is granted once.'
const BOUND = 'A payment buys the resource for which it was made.'
const SETTLED = 'Nothing is granted, and no handler runs, without a settled payment.'

export const ATTACKS: readonly PublishedAttack[] = [
  {
    id: 'replay',
    name: 'Replay one after the other',
    source: `${FIVE}, attack II (248 grants from one payment)`,
    does: 'Presents one payment six times to the resource it paid for, on both replicas.',
    invariant: ONCE,
    async run(stage) {
      const { header } = await prepare(stage)
      for (let index = 0; index < 6; index++)
        await stage.present('/a', header, { shop: index % 2 === 0 ? 0 : 1 })
    },
  },
  {
    id: 'replay-parallel',
    name: 'Replay in parallel',
    source: `${FREE_RIDING}, duplicate settlement race; ${issue(803)}`,
    does: 'Presents one payment many times at once to one replica, between verify and settle.',
    invariant: ONCE,
    async run(stage) {
      const { header } = await prepare(stage)
      stage.target.state.during = meet(stage.parallel)
      await times(stage.parallel, () => stage.present('/a', header))
    },
  },
  {
    id: 'replay-replicas',
    name: 'Replay in parallel on two replicas',
    source: `${FREE_RIDING}, duplicate settlement race`,
    does: 'Presents one payment many times at once to two replicas with separate memory.',
    invariant: ONCE,
    async run(stage) {
      const { header } = await prepare(stage)
      stage.target.state.during = meet(stage.parallel)
      await times(stage.parallel, (index) =>
        stage.present('/a', header, { shop: index % 2 === 0 ? 0 : 1 }),
      )
    },
  },
  {
    id: 'replay-solana',
    name: 'Replay on Solana, in parallel on two replicas',
    source: 'x402 scheme_exact_svm, duplicate settlement; x402-foundation/x402#2615',
    does: 'Presents one signed transaction to two replicas: the network accepts a copy of it silently.',
    invariant: ONCE,
    async run(stage) {
      const asked = await stage.ask('/solana')
      const header = await stage.payOnSolana(asked)
      stage.target.state.during = meet(2)
      await times(4, (index) => stage.present('/solana', header, { shop: index % 2 === 0 ? 0 : 1 }))
    },
  },
  {
    id: 'replay-permit2',
    name: 'Replay of a Permit2 payment in parallel',
    source: `${FREE_RIDING}, duplicate settlement race`,
    does: 'Presents one Permit2 payment many times at once to two replicas.',
    invariant: ONCE,
    async run(stage) {
      const [payer, asked] = await Promise.all([stage.payer(), stage.ask('/permit2')])
      const header = await stage.payByPermit2(payer, asked)
      stage.target.state.during = meet(stage.parallel)
      await times(stage.parallel, (index) =>
        stage.present('/permit2', header, { shop: index % 2 === 0 ? 0 : 1 }),
      )
    },
  },
  {
    id: 'other-resource',
    name: 'Another resource of the same price',
    source: `${FREE_RIDING}, cross-resource substitution (38 % of hosts have such siblings)`,
    does: 'Pays for one resource, presents the payment to another one first, then to both.',
    invariant: BOUND,
    async run(stage) {
      const { header } = await prepare(stage)
      await stage.present('/b', header, { paidFor: false })
      await stage.present('/a', header)
      await stage.present('/b', header, { paidFor: false })
    },
  },
  {
    id: 'other-resource-rewritten',
    name: 'The same, with the resource rewritten, in parallel',
    source: `${FREE_RIDING}, cross-resource substitution`,
    does: 'Presents one authorization to two resources at once, each time naming the one it asks for.',
    invariant: ONCE,
    async run(stage) {
      const { payer, asked } = await prepare(stage)
      const other = await stage.ask('/b')
      const { authorization, signature } = await signAuthorization(payer, asked)
      stage.target.state.during = meet(stage.parallel)
      await times(stage.parallel, (index) =>
        index % 2 === 0
          ? stage.present('/a', authorizationHeader(asked, authorization, signature))
          : stage.present('/b', authorizationHeader(other, authorization, signature)),
      )
    },
  },
  {
    id: 'other-seller',
    name: 'Another seller with the same payee',
    source: `${FREE_RIDING}, cross-resource substitution`,
    does: 'Pays at one shop, presents the payment at another shop of the same wallet first, then at both.',
    invariant: BOUND,
    async run(stage) {
      const { header } = await prepare(stage)
      await stage.present('/a', header, { shop: 1, paidFor: false })
      await stage.present('/a', header)
      await stage.present('/a', header, { shop: 1, paidFor: false })
    },
  },
  {
    id: 'confused-url',
    name: 'Confused URLs',
    source: `${RULES}; ${issue(3036)}, ${issue(3044)}, ${issue(3055)}`,
    does: 'Pays for one address and presents the payment to others, then asks for spellings of the path without paying.',
    invariant: BOUND,
    async run(stage) {
      const { header } = await prepare(stage, '/a?item=1&copies=1')
      for (const path of ['/a?item=2&copies=1', '/a?item=1&copies=1000', '/a?item=1', '/a'])
        await stage.present(path, header, { paidFor: false })
      for (const path of ['/a?copies=1&item=1', '/a/?item=1&copies=1', '/%61?item=1&copies=1'])
        await stage.present(path, header)
      await stage.present('/a?item=1&copies=1', header)
      for (const path of ['/a/', '/%61', '//a', '/a%2f', '/a%0a', '/%2561', '/A', '/a;x', '/a%00'])
        await stage.present(path, undefined, { paidFor: false })
    },
  },
  {
    id: 'expired',
    name: 'Expired and early authorizations',
    source: `${RULES}, validity windows`,
    does: 'Presents an authorization after its last second, and one before its first.',
    invariant: SETTLED,
    async run(stage) {
      const { payer, asked } = await prepare(stage)
      const now = BigInt(nowSeconds())
      for (const change of [
        { validBefore: now - 60n },
        { validAfter: now + 3_600n, validBefore: now + 7_200n },
      ])
        await stage.present('/a', await authorize(payer, asked, change))
    },
  },
  {
    id: 'replay-expired',
    name: 'Replay after expiry',
    source: `${RULES}, validity windows; claims that are pruned`,
    does: 'Presents a payment once, waits until its authorization has expired, and presents it again.',
    invariant: ONCE,
    slow: true,
    async run(stage) {
      const { payer, asked } = await prepare(stage)
      const validBefore = BigInt(nowSeconds() + 12)
      const header = await authorize(payer, asked, { validBefore })
      await stage.present('/a', header)
      await untilChainTime(stage, validBefore)
      await times(2, () => stage.present('/a', header))
    },
  },
  {
    id: 'expires-in-between',
    name: 'Expiry between verify and settle',
    source: `${FREE_RIDING}, denial of settlement`,
    does: 'Has a handler at work until the authorization has expired.',
    invariant: SETTLED,
    slow: true,
    async run(stage) {
      const { payer, asked } = await prepare(stage)
      const validBefore = BigInt(nowSeconds() + 12)
      stage.target.state.during = () => untilChainTime(stage, validBefore)
      await stage.present('/a', await authorize(payer, asked, { validBefore }))
    },
  },
  {
    id: 'moved-funds',
    name: 'Funds moved between verify and settle',
    source: `${FREE_RIDING}, denial of settlement`,
    does: 'Moves the payer’s balance elsewhere while the handler works.',
    invariant: SETTLED,
    async run(stage) {
      const { payer, header } = await prepare(stage)
      stage.target.state.during = () => emptyWallet(stage, payer)
      await stage.present('/a', header)
    },
  },
  {
    id: 'cancelled',
    name: 'Authorization cancelled between verify and settle',
    source: `${FREE_RIDING}, denial of settlement`,
    does: 'Calls cancelAuthorization of EIP-3009 while the handler works.',
    invariant: SETTLED,
    async run(stage) {
      const { payer, asked } = await prepare(stage)
      const { authorization, signature } = await signAuthorization(payer, asked)
      const token = getAddress(asked.accepted.asset)
      const cancel = await payer.signTypedData({
        domain: { name: 'USD Coin', version: '2', chainId: 31_337, verifyingContract: token },
        types: {
          CancelAuthorization: [
            { name: 'authorizer', type: 'address' },
            { name: 'nonce', type: 'bytes32' },
          ],
        },
        primaryType: 'CancelAuthorization',
        message: { authorizer: payer.address, nonce: authorization.nonce },
      })
      const data = encodeFunctionData({
        abi: usdcAbi,
        functionName: 'cancelAuthorization',
        args: [payer.address, authorization.nonce, cancel],
      })
      stage.target.state.during = async () =>
        void (await sendFrom(stage.evm, payer, { to: token, data }))
      await stage.present('/a', authorizationHeader(asked, authorization, signature))
    },
  },
  {
    id: 'revoked-allowance',
    name: 'Allowance revoked between verify and settle',
    source: `${FREE_RIDING}, allowance overdraft`,
    does: 'Takes the allowance of Permit2 away while the handler works.',
    invariant: SETTLED,
    async run(stage) {
      const [payer, asked] = await Promise.all([stage.payer(), stage.ask('/permit2')])
      const header = await stage.payByPermit2(payer, asked)
      const data = encodeFunctionData({
        abi: erc20Abi,
        functionName: 'approve',
        args: ['0x000000000022D473030F116dDEE9F6B43aC78BA3', 0n],
      })
      stage.target.state.during = async () =>
        void (await sendFrom(stage.evm, payer, { to: getAddress(asked.accepted.asset), data }))
      await stage.present('/permit2', header)
    },
  },
  {
    id: 'overdraft',
    name: 'Overdraft: many authorizations, funds for one',
    source: `${FREE_RIDING}, allowance overdraft`,
    does: 'Signs many authorizations over a balance for one and presents all at once.',
    invariant: SETTLED,
    async run(stage) {
      const { payer, asked } = await prepare(stage)
      const headers = await times(stage.parallel, () => authorize(payer, asked, soon()))
      stage.target.state.during = meet(stage.parallel)
      await times(headers.length, (index) => stage.present('/a', headers[index]))
    },
  },
  {
    id: 'front-run',
    name: 'Authorization front-run',
    source: `${FIVE}, attack I-B (caller-unbound settlement)`,
    does: 'A third party broadcasts the authorization before the seller gets it. The buyer paid and must be served, once.',
    invariant: 'A payment that landed is served or refundable, and granted at most once.',
    async run(stage) {
      const { payer, asked } = await prepare(stage)
      const header = await broadcastFirst(stage, payer, asked)
      await stage.present('/a', header)
      await stage.present('/a', header)
    },
  },
  {
    id: 'front-run-permit2',
    name: 'Permit2 payment front-run',
    source: `${FIVE}, attack I-B (caller-unbound settlement by the proxy)`,
    does: 'A third party calls the proxy of x402 before the seller gets the payment, which is then presented twice.',
    invariant: 'A payment that landed is served or refundable, and granted at most once.',
    async run(stage) {
      const [payer, asked] = await Promise.all([stage.payer(), stage.ask('/permit2')])
      const header = await stage.payByPermit2(payer, asked)
      const { payload } = v.parse(
        Permit2Header,
        JSON.parse(Buffer.from(header, 'base64').toString()),
      )
      const { from, permitted, nonce, deadline, witness } = payload.permit2Authorization
      const data = encodeFunctionData({
        abi: x402ExactPermit2ProxyABI,
        functionName: 'settle',
        args: [
          {
            permitted: { token: getAddress(permitted.token), amount: permitted.amount },
            nonce,
            deadline,
          },
          getAddress(from),
          { to: getAddress(witness.to), validAfter: witness.validAfter },
          payload.signature,
        ],
      })
      const thirdParty = await stage.evm.wallet(10n ** 18n)
      const call = { to: x402ExactPermit2ProxyAddress, data }
      const hash = await sendFrom(stage.evm, thirdParty, call)
      const { status } = await stage.evm.client.getTransactionReceipt({ hash })
      if (status !== 'success') throw new Error('The third party could not settle the payment.')
      await stage.present('/permit2', header)
      await stage.present('/permit2', header)
    },
  },
  {
    id: 'front-run-in-between',
    ownsBlocks: true,
    name: 'Authorization front-run between verify and settle',
    source: `${FIVE}, attack I-B (caller-unbound settlement)`,
    does: 'A third party broadcasts the authorization with a higher fee than the settlement that waits for a block.',
    invariant: 'A payment that landed is served or refundable, and granted at most once.',
    async run(stage) {
      const { payer, asked } = await prepare(stage)
      const { authorization, signature } = await signAuthorization(payer, asked)
      const { from, to, value, validAfter, validBefore, nonce } = authorization
      const data = encodeFunctionData({
        abi: usdcAbi,
        functionName: 'transferWithAuthorization',
        args: [from, to, value, validAfter, validBefore, nonce, signature],
      })
      const thirdParty = await stage.evm.wallet(10n ** 18n)
      stage.stopBlocks()
      const presented = stage.present('/a', authorizationHeader(asked, authorization, signature))
      await untilPooled(stage)
      const call = { to: getAddress(asked.accepted.asset), data, tip: 9n * 10n ** 9n }
      await queueFrom(stage.evm, thirdParty, call)
      stage.startBlocks()
      await presented
      await stage.present('/a', authorizationHeader(asked, authorization, signature))
    },
  },
  {
    id: 'simulation-only',
    name: 'A contract that is valid in simulation only',
    source: `${RULES}; ${issue(646)}`,
    does: 'Pays from a contract whose isValidSignature accepts only at a gas price of 0, as in eth_call.',
    invariant: SETTLED,
    async run(stage) {
      const { evm, tokens } = stage
      // The magic value, times whether GASPRICE is 0.
      const contract = await deployCode(evm, () => '0x631626ba7e60e01b3a150260005260206000f3')
      await tokens.fund(contract)
      const asked = await stage.ask('/a')
      const signature: Hex = `0x${'11'.repeat(66)}`
      const signer = { address: contract, signTypedData: async () => signature }
      const { authorization } = await signAuthorization(signer, asked, soon())
      const header = authorizationHeader(asked, authorization, signature)
      await times(2, () => stage.present('/a', header))
    },
  },
  {
    id: 'lying-facilitator',
    name: 'A facilitator that lies',
    source: `${issue(132)}; hostile-facilitator battery`,
    does: 'The facilitator says valid and settled, with a hash that no transaction has.',
    invariant: SETTLED,
    without: ['facilitator'],
    async run(stage) {
      const { header } = await prepare(stage)
      stage.target.state.facilitatorLies = `0x${'1'.repeat(64)}`
      await times(2, () => stage.present('/a', header))
    },
  },
  {
    id: 'lying-facilitator-hash',
    name: 'A facilitator that names another buyer’s transaction',
    source: `${issue(132)}; hostile-facilitator battery`,
    does: 'One buyer pays. The facilitator then says settled to a second one, with the hash of the first.',
    invariant: SETTLED,
    without: ['facilitator'],
    async run(stage) {
      const first = await prepare(stage)
      const fromBlock = await stage.evm.client.getBlockNumber()
      await stage.present('/a', first.header)
      const [paid] = await stage.evm.client.getLogs({
        event: transferEvent,
        args: { from: first.payer.address },
        fromBlock,
      })
      if (!paid) throw new Error('The first buyer has not paid.')
      const second = await prepare(stage)
      stage.target.state.facilitatorLies = paid.transactionHash
      await times(2, () => stage.present('/a', second.header))
    },
  },
  {
    id: 'shared-cache',
    name: 'A shared cache keeps the paid answer',
    source: `${FIVE}, attack III (a cache gave paid answers to all who asked)`,
    does: 'Pays through a cache that stores what RFC 9111 lets a shared cache store, then asks it without paying.',
    invariant: SETTLED,
    async run(stage) {
      const through = sharedCache()
      const { header } = await prepare(stage)
      await stage.present('/a', header, { through })
      await stage.present('/a', undefined, { through })
      await stage.present('/a', undefined, { through })
    },
  },
  {
    id: 'forced-account',
    name: 'Rent of a token account, charged to the fee payer',
    source: `${RULES}, sponsor cost amplification (37,959 forced account creations)`,
    does: 'Adds the creation of a token account to the payment, at the expense of the fee payer.',
    invariant: 'A fee payer pays for nothing but the transfer.',
    async run(stage) {
      const asked = await stage.ask('/solana')
      await stage.present(
        '/solana',
        await stage.payOnSolana(asked, { rentFor: Keypair.generate() }),
      )
    },
  },
  {
    id: 'substituted-terms',
    name: 'Other amount, asset, payee or network',
    source: `${FIVE}, attack IV (metadata manipulation); ${RULES}`,
    does: 'Signs other terms than asked, and either echoes the signed or the asked ones.',
    invariant: SETTLED,
    async run(stage) {
      const { payer, asked } = await prepare(stage)
      const thief = (await stage.evm.wallet(0n)).address
      const changes: Partial<ResourcePrice['accepted']>[] = [
        { amount: '1' },
        { payTo: thief },
        { asset: getAddress(stage.tokens.weth.address) },
        { network: 'eip155:1' },
      ]
      for (const change of changes) {
        const signed = { ...asked, accepted: { ...asked.accepted, ...change } }
        const { authorization, signature } = await signAuthorization(payer, signed)
        await stage.present('/a', authorizationHeader(signed, authorization, signature))
        await stage.present('/a', authorizationHeader(asked, authorization, signature))
      }
      const { authorization, signature } = await signAuthorization(payer, asked)
      const lowered = { ...authorization, value: 1n }
      await stage.present('/a', authorizationHeader(asked, lowered, signature))
      const foreign = { ...authorization, from: thief }
      await stage.present('/a', authorizationHeader(asked, foreign, signature))
    },
  },
  {
    id: 'twins',
    name: 'Malleated twins of one payment',
    source: `${FIVE}, attack II; x402 scheme_exact_svm, signature malleation`,
    does: 'Presents one payment under other spellings: high s, other v, compact, other JSON and base64, after it and with it at once.',
    invariant: ONCE,
    async run(stage) {
      const first = await prepare(stage)
      await stage.present('/a', first.header)
      for (const twin of headerTwins(first.header)) await stage.present('/a', twin)
      const second = await prepare(stage)
      const twins = [second.header, ...headerTwins(second.header)]
      stage.target.state.during = meet(twins.length)
      await times(twins.length, (index) =>
        stage.present('/a', twins[index], { shop: index % 2 === 0 ? 0 : 1 }),
      )
    },
  },
  {
    id: 'two-headers',
    name: 'Two headers in one request',
    source: `${FIVE}, attack III (header confusion)`,
    does: 'Sends a used payment and an unpaid one in PAYMENT-SIGNATURE and X-PAYMENT, both ways.',
    invariant: ONCE,
    async run(stage) {
      const { payer, asked, header } = await prepare(stage)
      const unpaid = await authorize(payer, asked, { value: 1n })
      await stage.present('/a', header, { headers: { 'x-payment': unpaid } })
      await stage.present('/a', unpaid, { headers: { 'x-payment': header } })
      await stage.present('/a', undefined, { headers: { 'x-payment': header } })
      await stage.present('/a', 'x', { headers: { 'x-payment': header } })
    },
  },
  {
    id: 'unreadable',
    name: 'Headers that cannot be read',
    source: 'x402scan#1169',
    does: 'Sends headers that are no base64, no JSON or no payment. The answer is 400 or 402.',
    invariant: 'No input alone makes an answer of status 500.',
    async run(stage) {
      for (const header of UNREADABLE) await stage.present('/a', header)
    },
  },
  {
    id: 'idempotency-key',
    name: 'An idempotency key with another payment',
    source: 'x402 extension payment-identifier; Stripe idempotency',
    does: 'Pays under a key or payment identifier and repeats it with a payment that does not pay.',
    invariant: ONCE,
    async run(stage) {
      const { payer, asked, header } = await prepare(stage)
      const id = `pay_${crypto.randomUUID()}`
      const identified = (value: string) =>
        alter(value, (all) => ({
          ...all,
          extensions: { 'payment-identifier': { info: { required: false, id } } },
        }))
      const headers = { 'idempotency-key': id }
      await stage.present('/a', identified(header), { headers })
      const other = await stage.ask('/b')
      const unpaid = await authorize(payer, asked, { nonce: newNonce() })
      const unpaidOther = await authorize(payer, other, { nonce: newNonce() })
      await stage.present('/a', identified(unpaid), { headers })
      await stage.present('/b', identified(unpaidOther), { headers })
      await stage.present('/a', identified(header), { headers, shop: 1 })
      await stage.present('/b', identified(header), { headers, paidFor: false })
    },
  },
  {
    id: 'reorganized-one',
    ownsBlocks: true,
    name: 'The last block is reorganized after the grant',
    source: `${FIVE}, attack I-A (grant before durable settlement)`,
    does: 'Removes the newest block at the moment of the delivery and spends the money elsewhere.',
    invariant: 'A grant survives the loss of the newest block.',
    run: (stage) => reorganize(stage, 1),
  },
  {
    id: 'reorganized-deep',
    ownsBlocks: true,
    name: 'Six blocks are reorganized after the grant',
    source: `${FIVE}, attack I-A (grant before durable settlement)`,
    does: 'The same, deeper than the confirmations for which the network’s configuration asks (2).',
    invariant: 'Accepted risk of a grant before finality; `confirmations` sets its price.',
    accepted: true,
    run: (stage) => reorganize(stage, 6),
  },
  {
    id: 'reorganized-deep-confirmed',
    ownsBlocks: true,
    name: 'The same, where the sellers wait for 10 confirmations',
    source: `${FIVE}, attack I-A (grant before durable settlement)`,
    does: 'Removes six blocks after the grant, from sellers who wait for 10, as docs/OPERATIONS.md shows.',
    invariant: 'A grant survives the loss of fewer blocks than confirmations.',
    confirmations: 10,
    run: (stage) => reorganize(stage, 6),
  },
]
