import { useLingui } from '@lingui/react/macro'
import { useEffect, useRef, useState } from 'react'
import { isPaymentId } from '#contract/payment.ts'
import { pathTo } from '../../router/paths.ts'
import { navigate } from '../../router/location.ts'
import { Icon } from '../../ui/Icon.tsx'
import { Input } from '../../ui/Input.tsx'

const PAUSE_MS = 350

/** Searches once the typing pauses; a whole payment id and Enter go straight to the payment. */
export function SearchBox({ text, onSearch }: { text: string; onSearch: (text: string) => void }) {
  const { t } = useLingui()
  const [typed, setTyped] = useState(text)
  const asked = useRef(text)

  // The address changed without us: Back, or "Clear filters".
  useEffect(() => {
    if (text === asked.current) return
    asked.current = text
    setTyped(text)
  }, [text])

  useEffect(() => {
    const wanted = typed.trim()
    if (wanted === asked.current) return
    const timer = setTimeout(() => search(wanted), PAUSE_MS)
    return () => clearTimeout(timer)
  })

  function search(wanted: string) {
    asked.current = wanted
    onSearch(wanted)
  }

  return (
    <form
      className="min-w-56 flex-1 max-sm:basis-full"
      onSubmit={(event) => {
        event.preventDefault()
        const wanted = typed.trim()
        if (isPaymentId(wanted)) navigate(pathTo('payment', { params: { paymentId: wanted } }))
        else search(wanted)
      }}
    >
      <Input
        aria-label={t`Search payments`}
        maxLength={300}
        onChange={(event) => setTyped(event.target.value)}
        placeholder={t`Id, address, reference, or web address`}
        prefix={<Icon name="search" />}
        type="search"
        value={typed}
      />
    </form>
  )
}
