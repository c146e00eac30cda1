import { Trans, useLingui } from '@lingui/react/macro'
import { findAsset } from '#contract/network.ts'
import { forgetMispaid, refundPath, type Mispaid } from '../../payment-view/mispaid.ts'
import { Link } from '../../router/Link.tsx'
import { useNetwork } from '../../api/use-config.ts'
import { Address } from '../../ui/Address.tsx'
import { Amount } from '../../ui/Amount.tsx'
import { Button } from '../../ui/Button.tsx'
import { buttonClass } from '../../ui/button-class.ts'
import { toast } from '../../ui/Toast.tsx'
import { InboxItem } from './InboxItem.tsx'

/**
 * Money received in another amount than requested. Nothing on a network that is no longer
 * configured.
 */
export function MispaidItem({ mispaid }: { mispaid: Mispaid }) {
  const { t } = useLingui()
  const network = useNetwork(mispaid.network)
  const asset = network && findAsset(network, mispaid.asset)
  if (!asset) return null
  const { decimals, symbol } = asset
  const came = <Amount atomic={mispaid.cameAtomic} decimals={decimals} symbol={symbol} />
  const expected = <Amount atomic={mispaid.expectedAtomic} decimals={decimals} symbol={symbol} />
  const payer = <Address value={mispaid.payer} />

  function putAside() {
    const undo = forgetMispaid(mispaid)
    toast(t`Taken off your list.`, { undo })
  }

  return (
    <InboxItem
      action={
        <>
          <Link
            className={buttonClass({ size: 'sm' })}
            to={refundPath(mispaid, {
              decimals,
              description: t`Sent back: another amount than was asked for`,
            })}
          >
            <Trans>Send back</Trans>
          </Link>
          <Button onClick={putAside} size="sm" variant="quiet">
            <Trans>Dealt with</Trans>
          </Button>
        </>
      }
      icon="warning"
      title={
        BigInt(mispaid.cameAtomic) > BigInt(mispaid.expectedAtomic) ? (
          <Trans>More arrived than was asked for</Trans>
        ) : (
          <Trans>Less arrived than was asked for</Trans>
        )
      }
      tone="warn"
    >
      <Trans>
        {came} from {payer}; {expected} was asked for, so its proof was not accepted.
      </Trans>
    </InboxItem>
  )
}
