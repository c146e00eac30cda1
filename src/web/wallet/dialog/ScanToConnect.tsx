import { Trans, useLingui } from '@lingui/react/macro'
import { Button } from '../../ui/Button.tsx'
import { buttonClass } from '../../ui/button-class.ts'
import { CopyButton } from '../../ui/CopyButton.tsx'
import { QrCode } from '../../ui/QrCode.tsx'
import { Spinner } from '../../ui/Spinner.tsx'

/** WalletConnect: a code for a wallet on another device. The person approves there. */
export function ScanToConnect({
  uri,
  onCancel,
}: {
  uri: string | undefined
  onCancel: () => void
}) {
  const { t } = useLingui()
  return (
    <div className="grid justify-items-center gap-3">
      {uri === undefined ? (
        <div className="grid aspect-square w-full max-w-64 place-items-center rounded-lg border border-line bg-sunken">
          <Spinner label={t`Asking WalletConnect for a code`} />
        </div>
      ) : (
        <QrCode
          className="w-full max-w-64 border border-line"
          label={t`Code that connects a wallet on another device`}
          value={uri}
        />
      )}
      <p className="text-center text-sm text-muted">
        <Trans>Scan it with your wallet, then approve there. Connecting moves nothing.</Trans>
      </p>
      <div className="flex flex-wrap justify-center gap-2">
        {uri !== undefined && (
          <>
            {window.matchMedia('(pointer: coarse)').matches && (
              <a className={buttonClass({ size: 'sm' })} href={uri} rel="noopener noreferrer">
                <Trans>Open a wallet on this phone</Trans>
              </a>
            )}
            <CopyButton label={t`Copy the code as text`} text value={uri} />
          </>
        )}
        <Button onClick={onCancel} size="sm">
          <Trans>Cancel</Trans>
        </Button>
      </div>
    </div>
  )
}
