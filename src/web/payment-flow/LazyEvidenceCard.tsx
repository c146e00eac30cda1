import { lazy, Suspense } from 'react'
import { loadMessages } from '../locales/language.ts'
import type { EvidenceCardProps } from './EvidenceCard.tsx'

const Card = lazy(async () => {
  const [EvidenceCard] = await Promise.all([
    import('./EvidenceCard.tsx').then((module) => module.EvidenceCard),
    loadMessages('paying'),
  ])
  return { default: EvidenceCard }
})

/** Few payments need it: it comes with the wallet's code. */
export function LazyEvidenceCard(props: EvidenceCardProps) {
  return (
    <Suspense fallback={null}>
      <Card {...props} />
    </Suspense>
  )
}
