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
import type { Dice } from './dice.ts'
import { attackOn, flipNibble, type Changes } from './evm.ts'

const abi = parseAbi([
  'function approve(address, uint256)',
  'function increaseAllowance(address, uint256)',
  'function transferFrom(address, address, uint256)',
  'function permit(address, address, uint256, uint256, uint8, bytes32, bytes32)',
  'function multicall(bytes[])',
])

const stranger = (dice: Dice): Hex => bytesToHex(dice.bytes(20))
const transfer = (to: string, amount: bigint): Hex =>
  encodeFunctionData({
    abi: erc20Abi,
    functionName: 'transfer',
    args: [to as Hex, BigInt.asUintN(256, amount)],
  })
const word = (value: bigint): string => value.toString(16).padStart(64, '0')

/** What an attacker who understands tokens changes. */
const changes: Changes = {
  'another token': (dice, valid) => ({ ...valid, to: stranger(dice) }),
  'a look-alike token': (dice, valid) => ({
    ...valid,
    to: flipNibble(valid.to, 2 + dice.below(40)),
  }),
  'another recipient': (dice, valid, intent) => ({
    ...valid,
    data: transfer(stranger(dice), intent.amountAtomic),
  }),
  'a look-alike recipient': (dice, valid, intent) => ({
    ...valid,
    data: transfer(flipNibble(intent.recipient as Hex, 8 + dice.below(28)), intent.amountAtomic),
  }),
  'the token as recipient': (_, valid, intent) => ({
    ...valid,
    data: transfer(intent.asset.address, intent.amountAtomic),
  }),
  'the payer as recipient': (_, valid, intent) => ({
    ...valid,
    data: transfer(intent.sender, intent.amountAtomic),
  }),
  'more or less': (dice, valid, { recipient, amountAtomic: amount }) => ({
    ...valid,
    data: transfer(
      recipient,
      dice.pick([
        amount + 1n,
        amount - 1n,
        amount * 10n,
        amount * 10n ** 12n,
        0n,
        dice.big(256),
        2n ** 256n - 1n,
      ]),
    ),
  }),
  'value beside it': (dice, valid) => ({ ...valid, value: dice.big(70) }),
  'ether instead': (dice, valid, intent) => ({
    ...valid,
    to: intent.recipient as Hex,
    value: dice.pick([intent.amountAtomic, dice.big(70)]),
    data: undefined,
  }),
  'ether to the token': (_, valid, intent) => ({
    ...valid,
    value: intent.amountAtomic,
    data: undefined,
  }),
  'an approval': (dice, valid, intent) => ({
    ...valid,
    data: encodeFunctionData({
      abi,
      functionName: 'approve',
      args: [dice.pick([stranger(dice), intent.recipient as Hex]), intent.amountAtomic],
    }),
  }),
  'a larger allowance': (dice, valid, intent) => ({
    ...valid,
    data: encodeFunctionData({
      abi,
      functionName: 'increaseAllowance',
      args: [stranger(dice), intent.amountAtomic],
    }),
  }),
  'a permit': (dice, valid, intent) => ({
    ...valid,
    data: encodeFunctionData({
      abi,
      functionName: 'permit',
      args: [
        intent.sender as Hex,
        stranger(dice),
        intent.amountAtomic,
        2n ** 64n,
        27,
        bytesToHex(dice.bytes(32)),
        bytesToHex(dice.bytes(32)),
      ],
    }),
  }),
  'a transfer from another': (dice, valid, intent) => ({
    ...valid,
    data: encodeFunctionData({
      abi,
      functionName: 'transferFrom',
      args: [
        dice.pick([stranger(dice), intent.sender as Hex]),
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
  'words after the call': (dice, valid) => ({
    ...valid,
    data: `${valid.data ?? '0x'}${bytesToHex(dice.bytes(dice.pick([1, 4, 32, 64]))).slice(2)}`,
  }),
  'the call cut short': (dice, valid) => ({
    ...valid,
    data: valid.data?.slice(0, -2 * dice.upTo(40)) as Hex,
  }),
  'dirt in the address': (dice, valid, { recipient, amountAtomic }) => ({
    ...valid,
    data: `0xa9059cbb${word((BigInt(dice.upTo(2 ** 30)) << BigInt(160 + dice.below(60))) | BigInt(recipient))}${word(amountAtomic)}`,
  }),
  'another function': (dice, valid) => ({
    ...valid,
    data: `${bytesToHex(dice.bytes(4))}${valid.data?.slice(10)}`,
  }),
  'the arguments swapped': (_, valid, { recipient, amountAtomic }) => ({
    ...valid,
    data: `0xa9059cbb${word(amountAtomic)}${word(BigInt(recipient))}`,
  }),
}

export const evmToken = attackOn({
  asset: (dice) => ({
    address: getAddress(stranger(dice)),
    symbol: 'USDC',
    name: 'USD Coin',
    decimals: dice.pick([6, 18, 0]),
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
