import { t } from '@lingui/core/macro'
import { Trans } from '@lingui/react/macro'
import { useEffect, useMemo, useState } from 'react'
import type { Family } from '#contract/address.ts'
import { familyOf } from '#contract/network.ts'
import { useQuery } from '@tanstack/react-query'
import { configQuery } from '../../api/queries.ts'
import { announce } from '../../ui/announce.tsx'
import { Banner } from '../../ui/Banner.tsx'
import { Dialog } from '../../ui/Dialog.tsx'
import { closeConnectDialog } from '../accounts.ts'
import { useFoundWallets, type FoundWallet } from '../discover.ts'
import { walletProblem } from '../errors.ts'
import { loadStack } from '../stack.ts'
import { AccountList } from './AccountList.tsx'
import { NoWallets } from './NoWallets.tsx'
import { WalletRow } from './WalletRow.tsx'

type Stage =
  | { name: 'choose'; trouble?: string }
  | { name: 'asking'; wallet: FoundWallet; family: Family }
  | { name: 'accounts'; wallet: FoundWallet; family: Family; addresses: readonly string[] }

/** One row per wallet, whichever of the two roads it was found on; then its account, if it offers several. */
export function ConnectDialog({ family }: { family: Family | undefined }) {
  const { data } = useQuery(configQuery)
  const offered = useMemo(
    () =>
      (['evm', 'solana'] as const).filter((each) => (family ?? each) === each && (data?.networks.some(({ network }) => familyOf(network) === each) ?? true)),
    [data, family],
  )
  const wallets = useFoundWallets().filter(({ ids }) => offered.some((each) => ids[each]))
  const [stage, setStage] = useState<Stage>({ name: 'choose' })

  // The wallet code comes while the reader looks at the list.
  useEffect(() => {
    if (data) for (const each of offered) void loadStack(each).catch(() => undefined)
  }, [data, offered])

  async function connect(wallet: FoundWallet, chosen: Family) {
    const id = wallet.ids[chosen]
    if (!id) return
    setStage({ name: 'asking', wallet, family: chosen })
    const { name } = wallet
    announce(t`Waiting for ${name}.`)
    try {
      const addresses = await (await loadStack(chosen)).connect(id)
      if (addresses.length > 1) return setStage({ name: 'accounts', wallet, family: chosen, addresses })
      announce(t`${name} is connected.`)
      closeConnectDialog()
    } catch (error) {
      const { message } = walletProblem(error, wallet.name)
      setStage({ name: 'choose', trouble: message.replace(' Nothing was sent.', '') })
    }
  }

  async function choose({ family: chosen, wallet }: Extract<Stage, { name: 'accounts' }>, address: string) {
    ;(await loadStack(chosen)).choose(address)
    const { name } = wallet
    announce(t`${name} is connected.`)
    closeConnectDialog()
  }

  const asking = stage.name === 'asking'
  const walletName = stage.name === 'choose' ? undefined : stage.wallet.name
  return (
    <Dialog
      description={
        walletName && stage.name === 'accounts' ? t`${walletName} offers several accounts.` : t`Connecting shows this page your address. It moves nothing.`
      }
      onClose={closeConnectDialog}
      open
      size="sm"
      title={stage.name === 'accounts' ? t`Which account?` : titleFor(family)}
    >
      {stage.name === 'choose' && stage.trouble && (
        <Banner className="mb-3" role="alert" tone="warn">
          {stage.trouble}
        </Banner>
      )}
      {stage.name === 'accounts' ? (
        <AccountList addresses={stage.addresses} onChoose={(address) => void choose(stage, address)} />
      ) : wallets.length === 0 ? (
        <NoWallets families={offered} />
      ) : (
        <ul className="space-y-2">
          {wallets.map((wallet) => (
            <li key={Object.values(wallet.ids).join()}>
              <WalletRow
                busy={asking && stage.wallet.name === wallet.name ? stage.family : undefined}
                families={offered}
                onConnect={(chosen) => void connect(wallet, chosen)}
                wallet={wallet}
              />
            </li>
          ))}
        </ul>
      )}
      {asking && (
        <p className="mt-3 text-sm text-muted">
          <Trans>Approve in {walletName}. Nothing opened? Click its icon in your browser’s toolbar.</Trans>
        </p>
      )}
    </Dialog>
  )
}

function titleFor(family: Family | undefined): string {
  if (!family) return t`Connect a wallet`
  return family === 'evm' ? t`Connect an Ethereum wallet` : t`Connect a Solana wallet`
}
