import { Trans } from '@lingui/react/macro'
import { useSession } from '../api/session.ts'
import { Banner } from '../ui/Banner.tsx'
import { Button } from '../ui/Button.tsx'
import { openConnectDialog, useAccounts, type ConnectedAccount } from '../wallet/state/accounts.ts'

/** The connected wallet that this session has proven; undefined while there is none. */
export function useSigner(): ConnectedAccount | undefined {
  const state = useSession()
  const wallets = state.kind === 'known' ? (state.session?.wallets ?? []) : []
  return useAccounts().find(({ address }) => wallets.includes(address))
}

/** Says what is missing before a key can be made. */
export function SignerNote({ signer }: { signer: ConnectedAccount | undefined }) {
  const state = useSession()
  if (signer) return null
  const wallet = state.kind === 'known' ? state.session?.wallets[0] : undefined
  return (
    <Banner
      action={
        <Button
          onClick={() => openConnectDialog(wallet?.startsWith('0x') === false ? 'solana' : 'evm')}
          size="sm"
        >
          <Trans>Connect</Trans>
        </Button>
      }
      tone="warn"
    >
      <Trans>Connect your sign-in wallet.</Trans>
    </Banner>
  )
}
