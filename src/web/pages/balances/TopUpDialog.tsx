import { Trans, useLingui } from '@lingui/react/macro'
import { lazy, Suspense } from 'react'
import type { Network } from '#contract/network.ts'
import { formatList } from '../../locales/formats.ts'
import { Address } from '../../ui/Address.tsx'
import { Dialog } from '../../ui/Dialog.tsx'
import { Skeleton } from '../../ui/Skeleton.tsx'

const QrCode = lazy(() =>
  import('../../ui/QrCode.tsx').then((module) => ({ default: module.QrCode })),
)

/** The address of a wallet, to send money to. */
export function TopUpDialog({
  at,
  onClose,
}: {
  at: { network: Network; wallet: string }
  onClose: () => void
}) {
  const { t } = useLingui()
  const { network, wallet } = at
  const { name } = network
  const symbols = formatList(
    network.assets.map(({ symbol }) => symbol),
    'disjunction',
  )
  return (
    <Dialog
      description={
        <Trans>
          Send {symbols} on {name} only.
        </Trans>
      }
      onClose={onClose}
      open
      title={t`Top up`}
    >
      <div className="space-y-4">
        <Suspense fallback={<Skeleton className="mx-auto aspect-square w-full max-w-72" />}>
          <QrCode
            className="mx-auto w-full max-w-72 border border-line"
            label={t`Code for ${at.wallet}`}
            value={wallet}
          />
        </Suspense>
        <p className="rounded-lg bg-sunken px-3 py-2">
          <Address copy full value={wallet} />
        </p>
      </div>
    </Dialog>
  )
}
