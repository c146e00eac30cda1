import { ApiError } from '../../api/errors.ts'
import { describeRefusal, refusalOf, formatRefusal } from '../../errors/refusals.ts'
import { Banner } from '../../ui/Banner.tsx'

/** Why a key was not made or ended. An answer that was lost may have made one, whose text nobody saw. */
export function KeyProblem({ problem }: { problem: unknown }) {
  const { title, body, said } = describeKeyProblem(problem)
  return (
    <Banner role="alert" title={title} tone="bad">
      {body}
      {said !== undefined && <p className="mt-1 font-mono text-xs">{said}</p>}
    </Banner>
  )
}

type Words = {
  title: string
  body: string
  /** The service's own words, which name the scope or the plan. */ said?: string
}

function describeKeyProblem(problem: unknown): Words {
  if (!(problem instanceof ApiError) || refusalOf(problem)) return describeRefusal(problem)
  if (problem.code === 'OFFLINE' || problem.code === 'TIMEOUT' || problem.code === 'BAD_RESPONSE')
    return formatRefusal('key_answer_lost')
  return problem.code === 'FORBIDDEN'
    ? { ...formatRefusal('key_not_given'), said: problem.message }
    : describeRefusal(problem)
}
