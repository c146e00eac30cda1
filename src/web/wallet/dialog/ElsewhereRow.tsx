import { Trans } from '@lingui/react/macro'
import { Button } from '../../ui/Button.tsx'
import { Icon } from '../../ui/Icon.tsx'
import { OnPhone } from './OnPhone.tsx'

export type ElsewhereRowProps = {
  /** Shows the WalletConnect code; undefined without a WalletConnect project id. */
  onScan: (() => void) | undefined
  /** Whether the phone options are expanded at first. */
  open: boolean
}

/** The wallet is not in this browser: on another device, or in a separate app. */
export function ElsewhereRow({ onScan, open }: ElsewhereRowProps) {
  return (
    <div className="mt-4 space-y-2 border-t border-line pt-4">
      {onScan && (
        <Button onClick={onScan} wide>
          <Trans>Scan with a wallet on another device</Trans>
        </Button>
      )}
      <details className="group" open={open}>
        <summary className="touch-target flex cursor-pointer items-center gap-1.5 py-1 text-sm text-muted select-none hover:text-ink">
          <Icon
            className="transition-transform group-open:rotate-90"
            name="chevronRight"
            size={14}
          />
          <Trans>Continue on a phone</Trans>
        </summary>
        <div className="mt-2">
          <OnPhone />
        </div>
      </details>
    </div>
  )
}
