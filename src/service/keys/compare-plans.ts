import { PLANS, type Plan } from '#contract/api-key.ts'

/** Whether one plan gives more than the other. */
export function isAbove(plan: Plan, other: Plan): boolean {
  return PLANS[plan].requestsPerMinute > PLANS[other].requestsPerMinute
}

export function lowerPlan(plan: Plan, other: Plan): Plan {
  return isAbove(plan, other) ? other : plan
}
