import { Trans } from '@lingui/react/macro'
import { useEffect, useState } from 'react'
import { ApiError } from '../../api/errors.ts'
import { useNetwork } from '../../api/use-config.ts'
import { describeError } from '../../errors/codes.ts'
import { Button } from '../../ui/Button.tsx'
import { toast } from '../../ui/Toast.tsx'

/** It is needed only where an endpoint does not answer. */
const load = async () => (await import('./EndpointDialog.tsx')).EndpointDialog

/** Has the payer choose another RPC endpoint where the payment is: nothing that was prepared or sent is left for it. */
export function AnotherEndpoint({ network: id, wide }: { network: string; wide?: boolean }) {
  const network = useNetwork(id)
  const [EndpointDialog, setDialog] = useState<Awaited<ReturnType<typeof load>>>()
  useEffect(
    () => () => {
      // It leaves when the endpoint answers, also while its dialog is open.
      if (document.activeElement === document.body)
        document.querySelector<HTMLElement>('[data-step-heading]')?.focus()
    },
    [],
  )
  if (!network) return null
  // Where its code cannot be fetched, the page stays and says so.
  const open = () =>
    load().then(
      (loaded) => setDialog(() => loaded),
      () => toast(describeError(new ApiError({ code: 'OFFLINE' })).title, { tone: 'bad' }),
    )
  return (
    <>
      <Button onClick={() => void open()} wide={wide}>
        <Trans>Use another endpoint</Trans>
      </Button>
      {EndpointDialog && <EndpointDialog network={network} onClose={() => setDialog(undefined)} />}
    </>
  )
}
