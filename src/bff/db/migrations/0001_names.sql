-- Written by hand: a name changes, no row is rewritten.
ALTER INDEX "bff"."hosted_intent_spent" RENAME TO "hosted_intent_outflow";
