import { Trans } from '@lingui/react/macro'
import { useSession } from '../api/session.ts'
import { Banner } from '../ui/Banner.tsx'
import { Button } from '../ui/Button.tsx'
import { Icon } from '../ui/Icon.tsx'
import { openConnectDialog, useAccounts, type ConnectedAccount } from '../wallet/state/accounts.ts'
import type { ApprovalState, Approving } from './use-approval.ts'

/** The very text that the wallet will show, read here first. */
export function ApproveStep({
  approval,
  approving,
}: {
  approval: ApprovalState
  approving: Approving
}) {
  const { walletName } = approval.signer
  const { userError, message } = approval
  return (
    <div className="grid gap-4">
      <p className="text-sm text-muted">
        <Trans>Your wallet signs this text.</Trans>
      </p>
      <pre
        aria-label={message.split('\n')[0]}
        className="max-h-[52vh] overflow-auto rounded-lg bg-sunken px-4 py-3 font-mono text-[13px] leading-5 break-words whitespace-pre-wrap"
        tabIndex={0}
      >
        {message}
      </pre>
      {userError && (
        <Banner role="alert" title={userError.title} tone="warn">
          {userError.body}
        </Banner>
      )}
      <div className="flex justify-end gap-2">
        <Button disabled={approving.busy} onClick={approving.back} variant="quiet">
          <Trans>Back</Trans>
        </Button>
        <Button
          busy={approving.busy}
          icon={<Icon name="wallet" />}
          onClick={() => void approving.sign()}
          variant="primary"
        >
          <Trans>Sign with {walletName}</Trans>
        </Button>
      </div>
    </div>
  )
}

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
