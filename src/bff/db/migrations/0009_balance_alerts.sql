CREATE TABLE "bff"."balance_alert" (
	"wallet" text NOT NULL,
	"network" text NOT NULL,
	"name" text NOT NULL,
	"threshold" numeric(78, 0) NOT NULL,
	"set_by" text NOT NULL,
	"set_at" timestamp (3) with time zone NOT NULL,
	CONSTRAINT "balance_alert_wallet_network_pk" PRIMARY KEY("wallet","network")
);
