import { Trans } from '@lingui/react/macro'
import { Banner } from '../ui/Banner.tsx'
import { Button } from '../ui/Button.tsx'
import { Icon } from '../ui/Icon.tsx'
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
