import {
  bytesToHex,
  decodeFunctionData,
  encodeFunctionData,
  erc20Abi,
  getAddress,
  isAddressEqual,
  parseAbi,
  type Hex,
} from 'viem'
import type { Rng } from './rng.ts'
import { attackOn, flipNibble, type Changes } from './evm.ts'

const abi = parseAbi([
  'function approve(address, uint256)',
  'function increaseAllowance(address, uint256)',
  'function transferFrom(address, address, uint256)',
  'function permit(address, address, uint256, uint256, uint8, bytes32, bytes32)',
  'function multicall(bytes[])',
])

const stranger = (rng: Rng): Hex => bytesToHex(rng.bytes(20))
const transfer = (to: string, amount: bigint): Hex =>
  encodeFunctionData({
    abi: erc20Abi,
    functionName: 'transfer',
    args: [to as Hex, BigInt.asUintN(256, amount)],
  })
const word = (value: bigint): string => value.toString(16).padStart(64, '0')

/** What an attacker who understands tokens changes. */
const changes: Changes = {
  'another token': (rng, valid) => ({ ...valid, to: stranger(rng) }),
  'a look-alike token': (rng, valid) => ({
    ...valid,
    to: flipNibble(valid.to, 2 + rng.below(40)),
  }),
  'another recipient': (rng, valid, intent) => ({
    ...valid,
    data: transfer(stranger(rng), intent.amountAtomic),
  }),
  'a look-alike recipient': (rng, valid, intent) => ({
    ...valid,
    data: transfer(flipNibble(intent.recipient as Hex, 8 + rng.below(28)), intent.amountAtomic),
  }),
  'the token as recipient': (_, valid, intent) => ({
    ...valid,
    data: transfer(intent.asset.address, intent.amountAtomic),
  }),
  'the payer as recipient': (_, valid, intent) => ({
    ...valid,
    data: transfer(intent.sender, intent.amountAtomic),
  }),
  'more or less': (rng, valid, { recipient, amountAtomic: amount }) => ({
    ...valid,
    data: transfer(
      recipient,
      rng.pick([
        amount + 1n,
        amount - 1n,
        amount * 10n,
        amount * 10n ** 12n,
        0n,
        rng.big(256),
        2n ** 256n - 1n,
      ]),
    ),
  }),
  'value beside it': (rng, valid) => ({ ...valid, value: rng.big(70) }),
  'ether instead': (rng, valid, intent) => ({
    ...valid,
    to: intent.recipient as Hex,
    value: rng.pick([intent.amountAtomic, rng.big(70)]),
    data: undefined,
  }),
  'ether to the token': (_, valid, intent) => ({
    ...valid,
    value: intent.amountAtomic,
    data: undefined,
  }),
  'an approval': (rng, valid, intent) => ({
    ...valid,
    data: encodeFunctionData({
      abi,
      functionName: 'approve',
      args: [rng.pick([stranger(rng), intent.recipient as Hex]), intent.amountAtomic],
    }),
  }),
  'a larger allowance': (rng, valid, intent) => ({
    ...valid,
    data: encodeFunctionData({
      abi,
      functionName: 'increaseAllowance',
      args: [stranger(rng), intent.amountAtomic],
    }),
  }),
  'a permit': (rng, valid, intent) => ({
    ...valid,
    data: encodeFunctionData({
      abi,
      functionName: 'permit',
      args: [
        intent.sender as Hex,
        stranger(rng),
        intent.amountAtomic,
        2n ** 64n,
        27,
        bytesToHex(rng.bytes(32)),
        bytesToHex(rng.bytes(32)),
      ],
    }),
  }),
  'a transfer from another': (rng, valid, intent) => ({
    ...valid,
    data: encodeFunctionData({
      abi,
      functionName: 'transferFrom',
      args: [
        rng.pick([stranger(rng), intent.sender as Hex]),
        intent.recipient as Hex,
        intent.amountAtomic,
      ],
    }),
  }),
  'calls in a bundle': (_, valid, intent) => ({
    ...valid,
    data: encodeFunctionData({
      abi,
      functionName: 'multicall',
      args: [[transfer(intent.recipient, intent.amountAtomic)]],
    }),
  }),
  'words after the call': (rng, valid) => ({
    ...valid,
    data: `${valid.data ?? '0x'}${bytesToHex(rng.bytes(rng.pick([1, 4, 32, 64]))).slice(2)}`,
  }),
  'the call cut short': (rng, valid) => ({
    ...valid,
    data: valid.data?.slice(0, -2 * rng.upTo(40)) as Hex,
  }),
  'dirt in the address': (rng, valid, { recipient, amountAtomic }) => ({
    ...valid,
    data: `0xa9059cbb${word((BigInt(rng.upTo(2 ** 30)) << BigInt(160 + rng.below(60))) | BigInt(recipient))}${word(amountAtomic)}`,
  }),
  'another function': (rng, valid) => ({
    ...valid,
    data: `${bytesToHex(rng.bytes(4))}${valid.data?.slice(10)}`,
  }),
  'the arguments swapped': (_, valid, { recipient, amountAtomic }) => ({
    ...valid,
    data: `0xa9059cbb${word(amountAtomic)}${word(BigInt(recipient))}`,
  }),
}

export const evmToken = attackOn({
  asset: (rng) => ({
    address: getAddress(stranger(rng)),
    symbol: 'USDC',
    name: 'USD Coin',
    decimals: rng.pick([6, 18, 0]),
    native: false,
  }),
  size: { amount: 80, gas: 60_000 },
  changes,
  pays: ({ asset, recipient, amountAtomic }, { to, value, data }) => {
    if (data === undefined || value > 0n || !isAddressEqual(to, asset.address as Hex)) return false
    const call = decodeFunctionData({ abi: erc20Abi, data })
    if (call.functionName !== 'transfer') return false
    // What viem writes for these arguments is the only spelling a token is sure to read the same way.
    const canonical = encodeFunctionData({ abi: erc20Abi, ...call })
    return (
      canonical === data &&
      isAddressEqual(call.args[0], recipient as Hex) &&
      call.args[1] === amountAtomic
    )
  },
})
