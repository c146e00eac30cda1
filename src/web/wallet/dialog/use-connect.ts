import { t } from '@lingui/core/macro'
import { useEffect, useRef, useState } from 'react'
import type { Family } from '#contract/address.ts'
import { announce } from '../../ui/announce.tsx'
import { closeConnectDialog } from '../state/accounts.ts'
import type { FoundWallet } from '../state/discover.ts'
import { walletProblem } from '../state/errors.ts'
import { loadWalletAdapter } from '../load-adapter.ts'
import type { Elsewhere } from '../state/wallet-adapter.ts'

export type ConnectStep =
  | { name: 'choose'; userError?: string }
  | { name: 'asking'; wallet: FoundWallet; family: Family }
  | { name: 'scanning'; wallet: FoundWallet; uri?: string }
  | { name: 'accounts'; wallet: FoundWallet; family: Family; addresses: readonly string[] }

/** Connecting, step by step. Leaving the dialog gives up on a wallet that was shown a code: it cannot come in later. */
export function useConnect() {
  const [step, setStep] = useState<ConnectStep>({ name: 'choose' })
  const giveUp = useRef<AbortController>(undefined)
  useEffect(() => () => giveUp.current?.abort(), [])

  async function connect(wallet: FoundWallet, family: Family, elsewhere?: Elsewhere) {
    const id = wallet.ids[family]
    if (!id) return
    const { name } = wallet
    announce(t`Waiting for ${name}.`)
    try {
      const addresses = await (await loadWalletAdapter(family)).connect(id, elsewhere)
      if (addresses.length > 1) return setStep({ name: 'accounts', wallet, family, addresses })
      announce(t`${name} is connected.`)
      closeConnectDialog()
    } catch (error) {
      if (elsewhere?.signal.aborted) return
      const { message } = walletProblem(error, name)
      setStep({ name: 'choose', userError: message.replace(' Nothing was sent.', '') })
    }
  }

  return {
    step,
    requestAccounts(wallet: FoundWallet, family: Family) {
      setStep({ name: 'asking', wallet, family })
      void connect(wallet, family)
    },
    scan(wallet: FoundWallet) {
      const controller = new AbortController()
      giveUp.current = controller
      setStep({ name: 'scanning', wallet })
      const onUri = (uri: string) =>
        setStep((now) => (now.name === 'scanning' ? { ...now, uri } : now))
      void connect(wallet, 'evm', { onUri, signal: controller.signal })
    },
    cancel() {
      giveUp.current?.abort()
      setStep({ name: 'choose' })
    },
    async choose({ family, wallet }: Extract<ConnectStep, { name: 'accounts' }>, address: string) {
      ;(await loadWalletAdapter(family)).choose(address)
      const { name } = wallet
      announce(t`${name} is connected.`)
      closeConnectDialog()
    },
  }
}
