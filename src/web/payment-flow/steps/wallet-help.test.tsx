import { renderToStaticMarkup } from 'react-dom/server'
import { expect, test } from 'vitest'
import { DEMO_WALLET } from '#contract/demo-wallet.ts'
import { WalletHelp } from './RunSteps.tsx'

test('a payer is not sent to the toolbar for a wallet that asks in the page', () => {
  const hint = 'Using an extension? Open it in the toolbar.'
  expect(renderToStaticMarkup(<WalletHelp walletName="MetaMask" />)).toContain(hint)
  expect(renderToStaticMarkup(<WalletHelp walletName={DEMO_WALLET} />)).toBe('')
})
